// What every rank saw in classic mistakes, with PyTorch 1.13 and 2.14 on Gloo, against the same programs on the simulated gloo with
// the profile of that version: which rank ends how, and in which call it hangs or raises.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/oracle/directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

using namespace literals;
using Json = nlohmann::json;

constexpr Time watched = 12_s;  // how long the recorder looked before it called a rank hung

struct Version {
  std::string_view file, profile;
};
constexpr std::array versions{Version{"/pitfalls.json", "pytorch-1.13"},
                              Version{"/pitfalls_2_14.json", "pytorch-2.14"}};

struct Reason {
  std::string_view run, why;
  std::string_view profile{};  // empty: every one
};

// Recorded runs for which there is no scenario.
constexpr std::array not_expressed{
    Reason{"reused_store_same_world_first", "its program is mismatched_op"},
    Reason{"reused_store_other_world_first", "its program is mismatched_op"},
    Reason{"reused_store_other_world_second", "a relaunch has as many ranks as before"},
};

// Ranks that end otherwise, on purpose.
constexpr std::array differences{
    Reason{"mismatched_op", "the values are as recorded, and the scenario checks them: wrong-data instead of silence"},
    Reason{"reused_store_same_world_second",
           "2.14's Gloo gives up connecting to the address of the dead run on some ranks; ours waits on all, as 1.13's",
           "pytorch-2.14"},
};

template <std::size_t n>
const Reason* find(const std::array<Reason, n>& table, std::string_view run, std::string_view profile) {
  const auto found = std::find_if(table.begin(), table.end(), [run, profile](const Reason& r) {
    return r.run == run && (r.profile.empty() || r.profile == profile);
  });
  return found == table.end() ? nullptr : &*found;
}

struct ErrorText {
  std::string_view text;  // of a recorded message
  std::vector<Code> codes;
};

const std::vector<ErrorText>& error_texts() {
  static const std::vector<ErrorText> table{
      {"Connection closed by peer", {Code::peer_closed}},
      {"Connection reset by peer", {Code::peer_closed}},
      {"Connection refused", {Code::connection_refused}},
      {"Expected to have finished reduction", {Code::reduction_not_finished}},
      {"modified by an inplace operation", {Code::saved_tensor_modified}},
      {"mark a variable ready only once", {Code::marked_ready_twice}},
      {"Timed out waiting", {Code::timeout}},
      {"failed to pass monitoredBarrier", {Code::timeout}},
      {"successfully reached monitoredBarrier", {Code::timeout, Code::peer_closed}},
      {"has not been initialized", {Code::not_initialized}},
      {"environment variable RANK expected, but not set", {Code::invalid_argument}},
      {"initialize the default process group twice", {Code::already_initialized}},
      {"appears not to match sizes", {Code::model_differs}},
      {"user bug", {Code::program_raised}},
      {"Wait timeout", {Code::store_timeout, Code::rendezvous_timeout}},
  };
  return table;
}

// How a rank ended, and where: "hang in backward of step 2", "error in all_reduce", "ok".
struct Ending {
  std::string outcome;  // ok, error, hang, killed, exit -6
  std::string in;       // operation; empty where it ended well, or nothing was recorded
  int step = -1;        // -1: not said
  std::string message;

  std::string text() const {
    if (in.empty()) return outcome;
    return outcome + " in " + in + (step < 0 ? "" : fmt::format(" of step {}", step));
  }
};

// The operation that a line of the recorded log names; none where it is said to have returned.
void place(Ending& ending, std::string line) {
  if (line.ends_with(" returned")) return;
  if (line.starts_with("step")) {
    ending.step = std::stoi(line.substr(4));
    line = line.substr(line.find(' ') + 1);
  }
  constexpr std::array<std::array<std::string_view, 2>, 5> others{{{"eval", "forward"},
                                                                   {"second init", "init_process_group"},
                                                                   {"init", "init_process_group"},
                                                                   {"construct", "init_process_group"},
                                                                   {"forward", "forward"}}};
  for (const auto& [begin, operation] : others)
    if (line.starts_with(begin)) return void(ending.in = operation);
  ending.in = line.substr(0, line.find(' '));
}

Ending recorded_ending(const Json& rank) {
  Ending ending{rank.at("outcome"), "", -1, rank.value("message", "")};
  const Json& calls = rank.at("calls");
  if ((ending.outcome == "hang" || ending.outcome == "error" || ending.outcome == "exit -6") && !calls.empty())
    place(ending, calls.back());
  return ending;
}

// The innermost operation that the rank began and did not complete.
void place(Ending& ending, const RankLog& log) {
  for (const Call& call : log.calls)
    if (call.layer == Layer::program && call.state != CallState::completed) {
      ending.in = call.name;
      ending.step = call.site.step;
    }
}

Ending simulated_ending(const RankLog& log) {
  if (log.end == RankEnd::returned) return {"ok", "", -1, ""};
  if (log.end == RankEnd::died && log.error.code == Code::rank_crashed) return {"killed", "", -1, ""};
  Ending ending{"error", "", -1, std::string(name_of(log.error.code))};
  if (log.end == RankEnd::died) ending.outcome = "exit -6";
  if (log.end == RankEnd::running || log.ended > watched) ending.outcome = "hang";
  place(ending, log);
  return ending;
}

bool means(const std::string& recorded, const std::string& code) {
  for (const ErrorText& row : error_texts())
    if (recorded.find(row.text) != std::string::npos)
      return std::any_of(row.codes.begin(), row.codes.end(), [&code](Code c) { return name_of(c) == code; });
  return false;
}

// Steps outside a loop are not said in the recorded log.
bool same(const Ending& recorded, const Ending& simulated) {
  if (recorded.outcome != simulated.outcome) return false;
  if (!recorded.in.empty() && recorded.in != simulated.in) return false;
  if (recorded.step >= 0 && recorded.step != simulated.step) return false;
  return recorded.outcome != "error" || means(recorded.message, simulated.message);
}

// Every variant of the scenarios beside the records, by its name, which is the run's.
std::map<std::string, Scenario> programs() {
  std::map<std::string, Scenario> found;
  for (const auto& entry : std::filesystem::directory_iterator(PDSIM_TESTS_DIR "/oracle/pitfalls")) {
    const Result<LoadedFile> file = load_file(entry.path().string());
    EXPECT_TRUE(file.ok() && file->errors == 0) << entry.path();
    if (!file.ok()) continue;
    for (const Scenario& variant : file->variants) found[variant.variant] = variant;
  }
  return found;
}

// How many ranks ended as recorded.
int compare(const Json& run, const Scenario& scenario, std::string_view profile) {
  std::string problem;
  const Result<Report> report = run_scenario(scenario, *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok()) << run.at("name");
  if (!report.ok()) return 0;
  int equal = 0;
  for (const Json& rank : run.at("ranks")) {
    const Ending recorded = recorded_ending(rank);
    const Ending simulated = simulated_ending(report->run.ranks[rank.at("rank").get<std::size_t>()].log);
    if (same(recorded, simulated))
      ++equal;
    else if (find(differences, std::string(run.at("name")), profile) == nullptr)
      ADD_FAILURE() << run.at("name") << ": rank " << rank.at("rank") << " of PyTorch ends " << recorded.text() << " ("
                    << recorded.message << "), simulated with " << profile << " " << simulated.text() << " ("
                    << simulated.message << ")";
  }
  return equal;
}

class RecordedPitfalls : public testing::TestWithParam<Version> {};

TEST_P(RecordedPitfalls, EndOnEveryRankAsInPyTorch) {
  const auto& [file, profile] = GetParam();
  std::map<std::string, Scenario> scenarios = programs();
  for (auto& [name, scenario] : scenarios) scenario.world.spec.profile = profile;
  std::ifstream in(oracle::directory() + std::string(file));
  ASSERT_TRUE(in.good());
  const Json document = Json::parse(in);
  const Json& recorded = document.is_array() ? document : document.at("runs");
  int runs = 0, ranks = 0, equal = 0;
  for (const Json& run : recorded) {
    const std::string name = run.at("name");
    const auto scenario = scenarios.find(name);
    if (const Reason* why = find(not_expressed, name, profile)) {
      EXPECT_EQ(scenario, scenarios.end()) << name;
      std::cout << "not replayed  " << name << ": " << why->why << "\n";
      continue;
    }
    if (scenario == scenarios.end()) {
      ADD_FAILURE() << name << " has neither a scenario nor a reason why there is none";
      continue;
    }
    const int size = run.at("world");
    const int same_ranks = compare(run, scenario->second, profile);
    if (const Reason* why = find(differences, name, profile)) {
      EXPECT_LT(same_ranks, size) << name << " is listed as different, and is not";
      std::cout << "differs       " << name << ": " << why->why << "\n";
    }
    ++runs;
    ranks += size;
    equal += same_ranks;
  }
  std::cout << runs << " of " << recorded.size() << " runs replayed with " << profile << ": " << equal << " of "
            << ranks << " ranks end as in PyTorch\n";
}

INSTANTIATE_TEST_SUITE_P(Of, RecordedPitfalls, testing::ValuesIn(versions), [](const auto& version) {
  return version.index == 0 ? std::string("PyTorch113") : std::string("PyTorch214");
});

}  // namespace
}  // namespace pdsim::scenarios
