#include "scenarios/reports/artifacts.h"

#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/json/trace_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace pdsim::scenarios {
namespace {

namespace fs = std::filesystem;

class Artifacts : public testing::Test {
 protected:
  Artifacts() {
    scenario_.variant = "broken";
    std::vector<RankScript> scripts = train({2, {1}});
    scripts[1].enter("barrier").collective("barrier", "", true);
    RunRecord run = run_of(scripts);
    run.messages.push_back({3, 0, 1, 64, {100}, {200}, {200}, false});
    report_ = analyse(scenario_, std::move(run));
    check_expectations(report_);
    dir_ = fs::temp_directory_path() /
           ("pdsim-artifacts-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(dir_);
  }
  ~Artifacts() override { fs::remove_all(dir_); }

  Scenario scenario_ = scenario_of(2);
  Report report_;
  fs::path dir_;
};

TEST_F(Artifacts, TheTraceShowsBlockedCallsAsNeverFinished) {
  const auto trace = nlohmann::json::parse(render_trace(report_));
  int begins = 0, ends = 0, complete = 0, flows = 0;
  for (const auto& event : trace.at("traceEvents")) {
    const auto phase = event.at("ph").get<std::string>();
    begins += phase == "B" && event.at("args").value("state", "") == "blocked" ? 1 : 0;
    ends += phase == "E" ? 1 : 0;
    complete += phase == "X" ? 1 : 0;
    flows += phase == "s" || phase == "f" ? 1 : 0;
  }
  EXPECT_EQ(begins, 2);
  EXPECT_EQ(ends, 0);
  EXPECT_GT(complete, 8);
  EXPECT_EQ(flows, 2);
  EXPECT_EQ(trace.at("otherData").at("fingerprint"), "8f3c1d20a7e45b96");
}

TEST_F(Artifacts, WritesThreeFilesAndNoOther) {
  ASSERT_TRUE(write_artifacts(report_, (dir_ / "a" / "b").string(), "text").ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir_ / "a" / "b")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"events.jsonl", "report.html", "trace.json"}));
  std::ifstream events(dir_ / "a" / "b" / "events.jsonl");
  std::size_t lines = 0;
  for (std::string line; std::getline(events, line); ++lines) EXPECT_FALSE(nlohmann::json::parse(line).empty());
  EXPECT_GT(lines, 10U);
}

TEST_F(Artifacts, AnErrorLeavesWhatWasThere) {
  fs::create_directories(dir_ / "trace.json");  // a folder in the way of a file
  std::ofstream(dir_ / "trace.json" / "keep") << "x";
  const Status status = write_artifacts(report_, dir_.string(), "text");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::io_error);
  EXPECT_TRUE(fs::exists(dir_ / "trace.json" / "keep"));
  for (const auto& entry : fs::directory_iterator(dir_)) EXPECT_NE(entry.path().extension(), ".part");

  std::ofstream(dir_ / "file") << "x";
  EXPECT_FALSE(write_artifacts(report_, (dir_ / "file" / "below").string(), "text").ok());
}

TEST_F(Artifacts, TheJsonHasTheKeysOfTheContract) {
  const auto json = nlohmann::ordered_json::parse(render_json({report_}));
  EXPECT_EQ(json.begin().key(), "version");
  EXPECT_TRUE(json.contains("scenario"));
  const auto& variant = json.at("variants").at(0);
  EXPECT_EQ(variant.at("verdict"), "fail");  // the scenario expects ok
  EXPECT_EQ(variant.at("outcome"), "deadlock");
  EXPECT_EQ(variant.at("fingerprint"), "8f3c1d20a7e45b96");
  EXPECT_EQ(variant.at("blocked").at(0).at("in"), "all_reduce");
  EXPECT_EQ(variant.at("blocked").at(0).at("waits_for"), nlohmann::ordered_json::array({1}));
  EXPECT_EQ(variant.at("first_divergence").at("seq"), 3);
  EXPECT_EQ(variant.at("diagnosis").at("id"), "unused-parameters");
  EXPECT_FALSE(variant.contains("errors"));
  EXPECT_FALSE(variant.contains("values"));
  const std::string text = render_json({report_});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(Artifacts, ARealWorldHasWallTimeAndNoFingerprint) {
  report_.world = RunWorld("gloo");
  report_.run.fingerprint.reset();
  report_.run.wall_ns = 42;
  const auto variant = nlohmann::json::parse(render_json({report_})).at("variants").at(0);
  EXPECT_EQ(variant.at("wall_ns"), 42);
  EXPECT_TRUE(variant.at("fingerprint").is_null());
  EXPECT_FALSE(variant.contains("simulated_ns"));
}

}  // namespace
}  // namespace pdsim::scenarios
