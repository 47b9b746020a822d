// Programs that use torch.distributed wrongly or at its edges, as PyTorch 1.13 and 2.14 on Gloo ran them, against the C++ API on the
// simulated gloo with the profile of that version: how every rank ends, which call fails how, and what calls return, bit for bit.
#include "sim/run.h"
#include "tests/oracle/directory.h"
#include "tests/unit/conformance/misuse_differences.h"
#include "tests/unit/conformance/misuse_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

namespace pdsim::oracle {
namespace {

using namespace literals;
using Json = nlohmann::json;

struct MisuseVersion {
  std::string_view file, profile;
};
constexpr std::array misuse_versions{MisuseVersion{"/misuse_1_13.jsonl", "pytorch-1.13"},
                                     MisuseVersion{"/misuse_2_14.jsonl", "pytorch-2.14"}};

constexpr Time watched_for = 14_s;  // longer than that, the recorder called it a hang
constexpr Time stays_for = 20_s;    // a process whose program ended well stayed until those of all others were over

// What a recorded message means here. Ranks that time out at one instant see each other's timeout or the closed connection.
struct MeaningOfMessage {
  std::string_view text;
  std::array<Code, 3> codes;
};
constexpr std::array meanings{
    MeaningOfMessage{"Timed out waiting", {Code::timeout, Code::peer_closed, Code::timeout}},
    MeaningOfMessage{"Connection closed by peer", {Code::peer_closed, Code::timeout, Code::timeout}},
    MeaningOfMessage{"Connection reset by peer", {Code::peer_closed, Code::timeout, Code::timeout}},
    MeaningOfMessage{"Operation timed out", {Code::timeout, Code::timeout, Code::timeout}},
    MeaningOfMessage{"onitoredBarrier", {Code::timeout, Code::peer_closed, Code::timeout}},
    MeaningOfMessage{"Detected mismatch between collectives",
                     {Code::collective_mismatch, Code::collective_mismatch, Code::collective_mismatch}},
    MeaningOfMessage{"Invalid scalar type", {Code::unsupported, Code::unsupported, Code::unsupported}},
    MeaningOfMessage{"ReduceOp.AVG", {Code::unsupported, Code::unsupported, Code::unsupported}},
    MeaningOfMessage{"not support", {Code::unsupported, Code::unsupported, Code::unsupported}},
    MeaningOfMessage{"ReduceOp.B", {Code::invalid_argument, Code::invalid_argument, Code::invalid_argument}},
    MeaningOfMessage{"has not been initialized", {Code::not_initialized, Code::group_destroyed, Code::not_initialized}},
    MeaningOfMessage{"bug in user code", {Code::program_raised, Code::program_raised, Code::program_raised}},
    MeaningOfMessage{"Wait timeout", {Code::store_timeout, Code::rendezvous_timeout, Code::timeout}},
    MeaningOfMessage{"Timeout waiting for key", {Code::store_timeout, Code::rendezvous_timeout, Code::timeout}},
};

bool means_the_same(const std::string& message, Code code) {
  for (const MeaningOfMessage& row : meanings)
    if (message.find(row.text) != std::string::npos)
      return std::find(row.codes.begin(), row.codes.end(), code) != row.codes.end();
  return true;
}

struct RankOutcome {
  std::string outcome;  // as recorded: ok, error, hang, killed, abort
  std::vector<MisuseCall> calls;
  std::string absent;  // what the C++ API lacks, if the program ran into it
};

std::string outcome_of(const RunRecord& run, Rank rank, Time timeout, const std::vector<MisuseCall>& calls) {
  const RankLog& log = run.ranks[static_cast<std::size_t>(rank)].log;
  if (log.end == RankEnd::died) return log.error.code == Code::rank_crashed ? "killed" : "abort";
  const bool failed = !calls.empty() && !calls.back().status.ok();
  if (log.end == RankEnd::running && failed && calls.back().over <= watched_for) return "error";  // it only tidies up
  if (log.end == RankEnd::running) {
    const std::string expected = fmt::format("waiting {}ms", timeout.ps / 1'000'000'000);
    return run.watchdog[static_cast<std::size_t>(rank)].find(expected) != std::string::npos ? "error" : "hang";
  }
  if (log.end == RankEnd::returned) return "ok";
  return !calls.empty() && calls.back().over > watched_for ? "hang" : "error";
}

std::vector<RankOutcome> replay(const Json& recorded, std::string_view profile) {
  sim::WorldSpec spec;
  spec.ranks_per_node = recorded.at("world");
  spec.profile = profile;
  for (Rank r = 0; r < spec.ranks_per_node; ++r) {
    const Json& program = recorded.at("programs").at(static_cast<std::size_t>(r));
    if (std::none_of(program.begin(), program.end(), [](const Json& c) { return c.at("do") == "kill"; })) continue;
    sim::FaultSpec crash;
    crash.kind = FaultKind::crash;
    crash.match.rank = IntSet::parse(std::to_string(r)).value();
    crash.at.before = "kill";
    spec.faults.push_back(crash);
  }
  const auto ranks = static_cast<std::size_t>(spec.ranks_per_node);
  int programs_over = 0;
  std::vector<std::vector<MisuseCall>> done(ranks);
  std::vector<KeptBuffers> kept(ranks);
  const RunRecord run =
      sim::run(spec, {}, [&](RankEnvironment& env) {
        const auto r = static_cast<std::size_t>(env.rank);
        const bool dies = std::any_of(spec.faults.begin(), spec.faults.end(),
                                      [&](const auto& f) { return f.match.rank.contains(env.rank); });
        programs_over += dies ? 1 : 0;
        bool counted = dies;
        const auto stay = [&] {
          programs_over += counted ? 0 : 1;
          counted = true;
          while (programs_over < env.world_size && env.runtime.now() < stays_for)
            env.runtime.sleep_until(env.runtime.now() + 50_ms);
        };
        ProgramResult result = run_misuse(env, {recorded.dump(), *profile_named(profile), stay}, done[r], kept[r]);
        programs_over += counted ? 0 : 1;
        return result;
      }).value();
  const Time timeout{static_cast<std::int64_t>(recorded.at("timeout_s").get<double>() * 1e12)};
  std::vector<RankOutcome> outcomes;
  for (std::size_t r = 0; r < ranks; ++r) {
    outcomes.push_back({outcome_of(run, static_cast<Rank>(r), timeout, done[r]), done[r], {}});
    for (const MisuseCall& call : done[r])
      if (!call.status.ok()) outcomes.back().absent = fact(call.status.error().facts, not_in_our_api);
  }
  return outcomes;
}

// Tensors as their bytes; what is not compared as null.
Json comparable(const Json& result) {
  if (result.is_array()) {
    Json parts = Json::array();
    for (const Json& part : result) parts.push_back(comparable(part));
    return parts;
  }
  if (result.is_object()) return result.contains("hex") ? result["hex"] : Json();
  return result.is_number() ? result : Json();
}

std::string difference_of_call(const Json& recorded, const MisuseCall& ours, const Json& program) {
  if (recorded.contains("error") != !ours.status.ok())
    return recorded.contains("error") ? "PyTorch raises, ours does not" : "ours fails: " + ours.status.error().message;
  if (recorded.contains("error")) {
    const std::string message = recorded["error"]["message"];
    return means_the_same(message, ours.status.error().code)
               ? ""
               : fmt::format("`{}` is here: {}", message, ours.status.error().message);
  }
  const Json theirs = recorded.contains("result") ? comparable(recorded["result"]) : Json();
  if (theirs.is_null() || ours.result.empty() || program.at("do") == "reduce") return "";
  return theirs.dump() == ours.result ? "" : fmt::format("{} is here {}", theirs.dump(), ours.result);
}

// The first of a rank; empty: none.
std::string difference_of_rank(const Json& recorded, const RankOutcome& ours, const Json& program) {
  if (!ours.absent.empty()) return "not in our API: " + ours.absent;
  if (recorded.at("outcome") != ours.outcome)
    return fmt::format(
        "{} ends here as {} after {}{}", recorded.at("outcome").get<std::string>(), ours.outcome,
        ours.calls.empty() ? "nothing" : to_string(ours.calls.back().over),
        ours.calls.empty() || ours.calls.back().status.ok() ? "" : ": " + ours.calls.back().status.error().message);
  for (const Json& call : recorded.at("calls")) {
    const auto index = call.at("call").get<std::size_t>();
    if (index >= ours.calls.size()) continue;  // it hangs there, and its outcome is the same
    const std::string what = difference_of_call(call, ours.calls[index], program.at(index));
    if (!what.empty()) return fmt::format("call {}: {}", index, what);
  }
  return "";
}

std::string difference_of_case(const Json& recorded, std::string_view profile) {
  const std::vector<RankOutcome> ours = replay(recorded, profile);
  for (std::size_t r = 0; r < ours.size(); ++r) {
    const std::string what = difference_of_rank(recorded.at("ranks").at(r), ours[r], recorded.at("programs").at(r));
    if (!what.empty()) return fmt::format("rank {}: {}", r, what);
  }
  return "";
}

// "shape_longer-detail" of "shape_longer-s1-0-detail": other recordings have other seeds.
std::string name_of_case(const Json& recorded) {
  return recorded.at("name").get<std::string>() + (recorded.contains("env") ? "-detail" : "");
}

class RecordedMisuse : public testing::TestWithParam<MisuseVersion> {};

TEST_P(RecordedMisuse, EndsAsInPyTorchOrIsListedWithItsReason) {
  std::ifstream in(directory() + std::string(GetParam().file));
  ASSERT_TRUE(in.good());
  int cases = 0, same = 0;
  std::map<std::string_view, int> by_reason;
  std::set<std::string> differing;
  for (std::string line; std::getline(in, line);) {
    const Json recorded = Json::parse(line);
    const std::string name = name_of_case(recorded);
    const std::string difference = difference_of_case(recorded, GetParam().profile);
    const MisuseDifference* listed = misuse_difference(name, GetParam().profile);
    ++cases;
    if (difference.empty()) {
      ++same;
      EXPECT_TRUE(listed == nullptr || !recorded.value("stable", true))
          << name << " is listed as different, and is not";
    } else if (listed == nullptr) {
      ADD_FAILURE() << name << " differs and is not listed: " << difference;
    } else {
      ++by_reason[listed->why];
    }
  }
  std::cout << cases << " programs with " << GetParam().profile << ": " << same << " end as in PyTorch\n";
  for (const auto& [why, count] : by_reason) std::cout << "  " << count << " differ: " << why << "\n";
}

INSTANTIATE_TEST_SUITE_P(Of, RecordedMisuse, testing::ValuesIn(misuse_versions), [](const auto& version) {
  return version.index == 0 ? std::string("PyTorch113") : std::string("PyTorch214");
});

}  // namespace
}  // namespace pdsim::oracle
