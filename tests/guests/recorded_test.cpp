// The recorded programs of PyTorch's users' classic mistakes, run unmodified: every rank ends as it did on real Gloo.
//
//   hang    recorded after twelve seconds; here also a rank whose library gives up later than that

#include "tests/guests/python.h"
#include "tests/guests/scripts_in_turn.h"
#include "tests/oracle/directory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t watched_ps = 12'000'000'000'000;

// What the report says of programs whose cause is not in the calls alone: the finding, and a part of its cure.
const std::map<std::string, std::pair<std::string, std::string>> found{
    {"two_forwards_broadcast_buffers", {"[buffer-broadcast-inplace]", "broadcast_buffers=False"}},
    {"marked_ready_twice", {"[marked-ready-twice]", "static_graph=True"}},
    {"short_timeout", {"[delayed-enter]", "timeout=timedelta"}},
    {"world_never_fills", {"[missing-call]", "every rank call init_process_group"}},
    {"duplicate_rank", {"[rank-claimed-twice]", "leave `rank` out"}},
    {"missing_env", {"[variable-missing]", "torchrun"}},
    {"parameter_order_differs", {"[model-differs]", "the same model on every rank"}},
};

constexpr std::string_view head = R"(import datetime, os, sys, time
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
TIMEOUT = datetime.timedelta(minutes=30)
def scenario(world=2):
    return lambda function: function
def log(text):
    print(text, flush=True)
)";

Json recorded() {
  std::ifstream file(oracle::directory() + "/pitfalls.json");
  return Json::parse(file, nullptr, false);
}

// How its ranks ended on the version of PyTorch that the tests run on.
Json ranks_of(const Json& run) {
  if (torch_version().first < 2) return run.at("ranks");
  std::ifstream file(oracle::directory() + "/pitfalls_2_14.json");
  for (const Json& other : Json::parse(file))
    if (other.at("name") == run.at("name")) return other.at("ranks");
  return run.at("ranks");
}

std::vector<std::string> programs() {
  std::vector<std::string> names;
  const Json all = recorded();
  if (all.is_object())
    for (const Json& run : all.at("runs"))
      if (run.at("program").get<std::string>().starts_with("@")) names.push_back(run.at("name"));
  return names;
}

// Of the ranks by their number, as the recorder writes it.
std::map<int, std::string> ends_in(const std::filesystem::path& events) {
  std::map<int, std::string> ends;
  std::ifstream file(events);
  for (std::string line; std::getline(file, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_object() || event.value("event", "") != "end") continue;
    const std::string how = event.at("end");
    const bool late = event.value("ended_ps", event.value("at_ps", std::int64_t{0})) > watched_ps;
    const std::string code = event.contains("error") ? event["error"].value("code", "") : "";
    std::string& end = ends[event.at("rank").get<int>()];
    end = how == "running" || (how == "raised" && late) ? "hang" : how == "returned" ? "ok" : "error";
    if (how == "died") end = code == "process-aborted" ? "exit -6" : "killed";
  }
  return ends;
}

ScriptRun run_of(const Json& all, const Json& run) {
  ScriptRun it;
  it.script = head;
  for (const Json& helper : all.at("helpers")) it.script += helper.get<std::string>() + "\n";
  it.script += run.at("program").get<std::string>() + "\n" + run.at("name").get<std::string>() +
               R"((int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.getcwd() + "/store", log))" + "\n";
  it.ranks = run.at("world").get<int>();
  it.writes = true;
  return it;
}

class Recorded : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (python_with_torch().empty()) return;
    const std::vector<std::string> chosen = parameters_to_run();
    const Json all = recorded();
    std::map<std::string, ScriptRun> wanted;
    for (const Json& run : all.at("runs"))
      if (std::find(chosen.begin(), chosen.end(), run.at("name")) != chosen.end()) wanted[run.at("name")] = run_of(all, run);
    runs().emplace(wanted);
  }
  static void TearDownTestSuite() { runs().reset(); }

  static std::optional<ScriptsInTurn>& runs() {
    static std::optional<ScriptsInTurn> all;
    return all;
  }
};

TEST_P(Recorded, EndsOnEveryRankAsOnRealGloo) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const cli_tests::Ended& ended = runs()->ended(GetParam());
  for (const Json& run : recorded().at("runs")) {
    if (run.at("name") != GetParam()) continue;
    std::map<int, std::string> wanted;
    for (const Json& rank : ranks_of(run)) wanted[rank.at("rank").get<int>()] = rank.at("outcome").get<std::string>();
    EXPECT_EQ(ends_in(runs()->folder_of(GetParam()) / "out/train.py/events.jsonl"), wanted) << ended.output << ended.problems;
    const auto wants = found.find(GetParam());
    const bool keeps_versions = torch_version() >= std::pair(2, 14) && GetParam() == "two_forwards_broadcast_buffers";  // of buffers: nothing to find
    if (wants == found.end() || keeps_versions) continue;
    EXPECT_NE(ended.output.find(wants->second.first), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find(wants->second.second), std::string::npos) << ended.output;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Recorded);
INSTANTIATE_TEST_SUITE_P(Programs, Recorded, testing::ValuesIn(programs()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace pdsim::guest_tests
