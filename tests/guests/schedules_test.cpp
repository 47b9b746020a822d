// Runs of `pdsim run` beyond the first: schedules until one has a finding, and cures that were tried.

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

// Rank 0 takes the first message of anybody for that of rank 1: right in some orders only.
constexpr const char* racing = R"(import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    first = dist.recv(torch.zeros(1))
    dist.recv(torch.zeros(1), src=3 - first)
    if first == 2:
        raise RuntimeError("rank 2 came first")
else:
    dist.send(torch.ones(1), 0)
dist.barrier()
)";

cli_tests::Ended run_in(const cli_tests::Folder& folder, std::vector<std::string> flags) {
  flags.insert(flags.begin(), "run");
  flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
  return cli_tests::run_pdsim(flags, folder.path());
}

bool shows(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Schedules : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  }
  const cli_tests::Folder folder;
};

TEST_F(Schedules, TheFirstWithAFindingIsToldAndItsSeedShowsItAgain) {
  folder.write("train.py", racing);
  const cli_tests::Ended run = run_in(folder, {"-n", "3", "--seeds", "30"});
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_TRUE(shows(run.output, "rank 2 came first")) << run.output;
  EXPECT_TRUE(shows(run.output, "before had no finding")) << run.output;
  const std::string key = "--strategy random --seed ";
  const std::size_t at = run.output.find(key);
  ASSERT_NE(at, std::string::npos) << run.output;
  const std::string seed = run.output.substr(at + key.size(), run.output.find(' ', at + key.size()) - at - key.size());
  const cli_tests::Ended again = run_in(folder, {"-n", "3", "--strategy", "random", "--seed", seed});
  EXPECT_TRUE(shows(again.output, "rank 2 came first")) << again.output;
}

TEST_F(Schedules, WithoutAFindingItIsSaidWhatWouldHaveBeenMissed) {
  folder.write("train.py", "import torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n");
  const cli_tests::Ended run = run_in(folder, {"-n", "2", "--seeds", "3", "--compute", "5ms"});
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  EXPECT_TRUE(shows(run.output, "3 schedules tried, none has a finding")) << run.output;
  EXPECT_TRUE(shows(run.output, "63 %")) << run.output;
  EXPECT_TRUE(shows(run.output, "finished in 5.0")) << run.output;
}

TEST_F(Schedules, ACureThatIsAnArgumentIsTried) {
  folder.write("train.py",
               cli_tests::text_of(cli_tests::source_tree / "tests/guests/gallery/training/unused_parameters_broken.py"));
  const cli_tests::Ended run = run_in(folder, {"-n", "2", "--try-cures"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run.output, "tried: DistributedDataParallel(..., find_unused_parameters=True): finishes in"))
      << run.output;
}

TEST_F(Schedules, WhatMakesReplicasEqualAgainIsTried) {
  const std::map<std::string, std::string> tried{
      {"changed_by_hand_broken", "tried: one rank's parameters on all ranks, before each forward: finishes in"},
      {"own_learning_rate_broken", "tried: one rank's optimizer settings on all ranks, before each step: finishes in"},
      {"gradients_by_hand_broken", "tried: one rank's gradients on all ranks, before each step: finishes in"},
      {"optimizer_state_on_one_rank_broken", "tried: one rank's optimizer state on all ranks, before each step: finishes in"},
      {"module_on_one_rank_broken", "tried: model(x) for model.module(x): finishes in"},
      {"no_sync_on_one_rank_broken", "tried: no backward in no_sync: finishes in"}};
  for (const auto& [script, said] : tried) {
    folder.write("train.py",
                 cli_tests::text_of(cli_tests::source_tree / ("tests/guests/gallery/replicas/" + script + ".py")));
    const cli_tests::Ended run = run_in(folder, {"-n", "4", "--try-cures"});
    EXPECT_EQ(run.status, 1) << run.problems;
    EXPECT_TRUE(shows(run.output, said)) << script << "\n" << run.output << run.problems;
  }
}

TEST_F(Schedules, AFixThatOnlyTheScriptCanMakeIsSaidToBeUntried) {
  folder.write("train.py", cli_tests::text_of(cli_tests::source_tree / "tests/guests/gallery/replicas/skipped_step_broken.py"));
  const cli_tests::Ended run = run_in(folder, {"-n", "4", "--try-cures"});
  EXPECT_EQ(run.status, 1) << run.output;
  EXPECT_TRUE(shows(run.problems, "pdsim: no fix was tried: the fix for replicas-differ is a change to the script's own lines")) << run.problems;
}

TEST_F(Schedules, ATimeoutThatIsTooShortIsCuredByALongerOne) {
  folder.write("train.py", R"(import time
from datetime import timedelta

import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=5))
if dist.get_rank() == 0:
    time.sleep(60)
dist.barrier()
)");
  const cli_tests::Ended run = run_in(folder, {"-n", "2", "--try-cures"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run.output, "tried: init_process_group(..., timeout=timedelta(hours=24)): finishes in")) << run.output;
}

TEST_F(Schedules, MeasuredComputingTakesVirtualTimeAndHasNoFingerprint) {
  folder.write("train.py", R"(import torch.distributed as dist

dist.init_process_group("gloo")
sum(i * i for i in range(1_000_000))
dist.barrier()
)");
  const auto simulated = [&](const std::string& compute) {
    const cli_tests::Ended run = run_in(folder, {"-n", "2", "--json", "--compute", compute});
    const auto report = nlohmann::json::parse(run.output, nullptr, false);
    EXPECT_TRUE(report.is_object()) << run.output << run.problems;
    return report.is_object() ? report["variants"][0] : nlohmann::json::object();
  };
  EXPECT_LT(simulated("none").value("simulated_ns", std::int64_t{0}), 1'000'000);
  const auto measured = simulated("measured:1000");
  EXPECT_GT(measured.value("simulated_ns", std::int64_t{0}), 1'000'000);
  EXPECT_FALSE(measured.contains("fingerprint") && measured["fingerprint"].is_string()) << measured["fingerprint"];
}

TEST_F(Schedules, AFaultStrikesBeforeAnOperationOfAStep) {
  folder.write("train.py",
               cli_tests::text_of(cli_tests::source_tree / "tests/guests/gallery/training/unused_parameters_repaired.py"));
  const cli_tests::Ended run =
      run_in(folder, {"-n", "2", "--fault", "crash: {}, match: {rank: 1}, at: {step: 1, before: backward}"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run.output, "error[rank-died]: rank 0 waited for rank 1, which died in step 1")) << run.output;
}

}  // namespace
}  // namespace pdsim::guest_tests
