// trace.json as Chrome and Perfetto read it: every thread is named, slices of a thread nest, a call that never ended has no end,
// and arrows start and end once.

#include "tests/cli/support/catalog_outputs.h"
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Thread = std::pair<int, int>;  // pid, tid

struct Slice {
  std::int64_t begin, end;  // ps
};

std::int64_t ps(const Json& us) { return std::llround(us.get<double>() * 1e6); }

// Slices nest when each ends before the one that it began in does.
bool nest(std::vector<Slice> slices) {
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<std::int64_t> open;
  for (const Slice& s : slices) {
    while (!open.empty() && open.back() <= s.begin) open.pop_back();
    if (!open.empty() && s.end > open.back() + 1) return false;
    open.push_back(s.end);
  }
  return true;
}

// What a run leaves open: every blocked rank's call, and those in which a process died.
enum class Open { none, perhaps, some };

bool has_died(const Json& variant) {
  const Json errors = variant.value("errors", Json::array());
  return std::any_of(errors.begin(), errors.end(), [](const Json& e) {
    return std::set<std::string>{"rank-crashed", "process-aborted", "cancelled", "watchdog-timeout"}.count(e["code"]) ==
           1;
  });
}

void check(const Json& trace, const std::string& name, Open open) {
  std::set<Thread> named;
  std::map<Thread, std::vector<Slice>> slices;
  std::map<std::int64_t, int> starts, ends;
  int never_ended = 0;
  for (const Json& e : trace["traceEvents"])
    if (e["name"] == "thread_name") named.insert({e["pid"].get<int>(), e["tid"].get<int>()});
  for (const Json& e : trace["traceEvents"]) {
    const std::string phase = e["ph"];
    if (phase == "M") continue;
    ASSERT_TRUE(e["ts"].is_number()) << e;
    if (phase == "C") continue;
    const Thread thread{e["pid"].get<int>(), e["tid"].get<int>()};
    EXPECT_EQ(named.count(thread), 1U) << name << ": " << e;
    if (phase == "X") {
      EXPECT_GE(e["dur"].get<double>(), 0.0);
      slices[thread].push_back({ps(e["ts"]), ps(e["ts"]) + ps(e["dur"])});
    } else if (phase == "s") {
      ++starts[e["id"]];
    } else if (phase == "f") {
      ++ends[e["id"]];
    } else if (phase == "B") {
      ++never_ended;
    }
    EXPECT_NE(phase, "E") << "slices that ended are written whole";
  }
  if (open != Open::perhaps) {
    EXPECT_EQ(never_ended > 0, open == Open::some) << name;
  }
  for (const auto& [thread, list] : slices) EXPECT_TRUE(nest(list)) << name << ", rank " << thread.second;
  for (const auto& [id, count] : starts) EXPECT_EQ(count, 1) << name << ", message " << id;
  for (const auto& [id, count] : ends) EXPECT_EQ(starts[id], count) << name << ", message " << id;
}

TEST_F(CatalogOutputs, TracesAreWhatViewersExpect) {
  std::map<std::string, Open> left;
  for (const std::string& line : lines()) {
    const Json file = Json::parse(line);
    for (const Json& v : file["variants"])
      left[file["scenario"].get<std::string>() + "/" + v["name"].get<std::string>()] = v["outcome"] == "deadlock"
                                                                                           ? Open::some
                                                                                       : has_died(v) ? Open::perhaps
                                                                                                     : Open::none;
  }
  int traces = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (entry.path().filename() != "trace.json") continue;
    const std::string name = fs::relative(entry.path().parent_path(), folder()).string();
    std::ifstream file(entry.path());
    check(Json::parse(file), name, left[name]);
    ++traces;
  }
  EXPECT_GE(traces, 10);
}

// What a viewer shows beside the calls: where the ranks first differ, from when on nothing could save the run, and each rank's load.
TEST(Trace, OfAHangMarksItsTurningPointsWithTheDiagnosis) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "broken", "--out", "run"}, folder.path());
  const Json trace = Json::parse(text_of(folder.path() / "run/unused_params/broken/trace.json"));
  EXPECT_EQ(trace["otherData"]["diagnosis"]["id"], "unused-parameters");
  std::map<std::string, Json> instants;
  std::map<std::string, std::vector<Json>> tracks;
  int blocked = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "i") instants[e["name"]] = e;
    if (e["ph"] == "C") tracks[e["name"]].push_back(e);
    if (e["ph"] == "B" && e["args"].contains("diagnosis")) ++blocked;
  }
  ASSERT_TRUE(instants.contains("first divergence: #8 of world")) << trace["otherData"];
  ASSERT_TRUE(instants.contains("point of no return"));
  EXPECT_NEAR(instants["point of no return"]["ts"].get<double>(), 430.1, 0.05);
  EXPECT_LT(instants["point of no return"]["ts"], instants["first divergence: #8 of world"]["ts"]);
  for (const auto& [name, instant] : instants) {
    EXPECT_EQ(instant["args"]["diagnosis"]["id"], "unused-parameters") << name;
    EXPECT_EQ(instant["args"]["diagnosis"]["ranks"], "rank 1") << name;
    EXPECT_EQ(instant["s"], "g") << name;
  }
  EXPECT_EQ(instants["first divergence: #8 of world"]["args"]["rank 1"], "barrier");
  EXPECT_EQ(blocked, 2);
  for (const char* rank : {"rank 0: ", "rank 1: "}) {
    const std::vector<Json>& bytes = tracks[std::string(rank) + "bytes in flight"];
    const std::vector<Json>& calls = tracks[std::string(rank) + "open calls"];
    ASSERT_FALSE(bytes.empty() || calls.empty()) << rank;
    EXPECT_GT(bytes.front()["args"]["bytes"], 0);
    EXPECT_GE(calls.back()["args"]["calls"], 1) << "the call it is blocked in stays open";
    for (const std::vector<Json>* track : {&bytes, &calls})
      EXPECT_TRUE(std::is_sorted(track->begin(), track->end(), [](const Json& a, const Json& b) { return a["ts"] < b["ts"]; }));
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
