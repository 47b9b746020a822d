// `pdsim run --on real`: scripts on their own Gloo, recorded beside it; the same findings as in the simulated world, and nothing left.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

constexpr const char* real_beginning = R"(import os, signal
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
)";

cli_tests::Ended run_for_real(const std::string& script, std::vector<std::string> flags) {
  const cli_tests::Folder folder;
  folder.write("train.py", script);
  flags.insert(flags.begin(), {"run", "--on", "real", "--patience", "3s"});
  flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
  const cli_tests::Leftovers before;
  cli_tests::Ended run = cli_tests::run_pdsim(flags, folder.path());
  EXPECT_TRUE(before.none_of(folder, {"train.py"}));
  return run;
}

bool is_printed_by(const std::string& part, const cli_tests::Ended& run) { return run.output.find(part) != std::string::npos; }

// What each rank called, by the record of the run.
std::map<int, std::vector<std::string>> calls_in(const std::filesystem::path& events) {
  std::map<int, std::vector<std::string>> calls;
  std::ifstream file(events);
  for (std::string line; std::getline(file, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object() || event.value("event", "") != "call" || event.value("layer", "") == "store") continue;
    calls[event.at("rank").get<int>()].push_back(event.at("name").get<std::string>() + " " + event.value("group", "") + " " +
                                                 std::to_string(event.value("seq", -1)) + " " +
                                                 event.value("purpose", "") + " " + event.value("dtype", "") + " " +
                                                 std::to_string(event.value("count", -1)));
  }
  return calls;
}

std::vector<std::string> values_printed(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);)
    if (line.find("value:") != std::string::npos) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

class RealRun : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  }
};

TEST_F(RealRun, GivesTheLossesAndCallsOfTheSimulatedRun) {
  const cli_tests::Folder folder;
  folder.write("train.py", std::string(real_beginning) + R"(
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.manual_seed(rank)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.rand(5, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print("value:", loss.item().hex())
sums = torch.full((5,), 10.0 ** rank)
dist.reduce(sums, 0)  # Gloo leaves partial sums in the other tensors
print("value:", sums.tolist())
everybody = [None, None]
dist.all_gather_object(everybody, rank)
if rank == 0:
    dist.send(torch.ones(2), 1)
else:
    dist.recv(torch.ones(2), 0)
)");
  std::vector<std::string> values;
  for (const std::string on : {"sim", "real"}) {
    const cli_tests::Ended run = cli_tests::run_pdsim(
        {"run", "-n", "2", "--on", on, "--out", on, "--", python_with_torch(), "train.py"}, folder.path());
    ASSERT_EQ(run.status, 0) << run.output << run.problems;
    if (on == "sim") values = values_printed(run.output);
    EXPECT_EQ(values_printed(run.output), values);
  }
  EXPECT_EQ(values.size(), 8U);
  const auto simulated = calls_in(folder.path() / "sim/train.py/events.jsonl");
  EXPECT_EQ(simulated.size(), 2U);
  EXPECT_EQ(calls_in(folder.path() / "real/train.py/events.jsonl"), simulated);
}

TEST_F(RealRun, AKilledRankIsSeenWithItsSignal) {
  const cli_tests::Ended run = run_for_real(
      std::string(real_beginning) + "dist.barrier()\nif rank == 1:\n    os.kill(os.getpid(), 9)\ndist.barrier()\n",
      {"-n", "2"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(is_printed_by("error[rank-died]: rank 0 waited for rank 1, which died by signal 9", run)) << run.output;
}

TEST_F(RealRun, AnEndlessLoopIsFoundWithItsLineWhileOthersWait) {
  const cli_tests::Ended run =
      run_for_real(std::string(real_beginning) + "while rank == 1:\n    spinning = True\ndist.barrier()\n", {"-n", "2"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(is_printed_by("deadlock[rank-hung]: rank 1 stopped", run)) << run.output;
  EXPECT_TRUE(is_printed_by("rank == 1", run) || is_printed_by("spinning", run)) << run.output;
}

TEST_F(RealRun, AStoppedRankIsNotMistakenForADeadOne) {
  const cli_tests::Ended run = run_for_real(
      std::string(real_beginning) + "if rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\ndist.barrier()\n",
      {"-n", "2"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(is_printed_by("deadlock[rank-hung]: rank 1 stopped", run)) << run.output;
}

TEST_F(RealRun, RanksThatMpirunStartedAreWatchedAndTheirRecordsJoinedAfterwards) {
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun here";
  const cli_tests::Folder folder;
  folder.write("train.py", R"(import os
import torch
import torch.distributed as dist

rank, size = (int(os.environ["OMPI_COMM_WORLD_" + name]) for name in ("RANK", "SIZE"))
dist.init_process_group("gloo", init_method="file://" + os.getcwd() + "/store", rank=rank, world_size=size)
dist.barrier()
if rank == 0:
    dist.barrier()
dist.all_reduce(torch.ones(4))
)");
  const cli_tests::Ended run =
      cli_tests::run_pdsim({"run", "--on", "real", "--patience", "3s", "--records", "records", "--save", "mine.yaml", "--",
                            "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", python_with_torch(), "train.py"},
                           folder.path());
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_TRUE(is_printed_by("deadlock[collective-mismatch]", run)) << run.output << run.problems;
  EXPECT_TRUE(is_printed_by("saved    mine.yaml, which reproduces the run without the script", run)) << run.output;
  const cli_tests::Ended joined = cli_tests::run_pdsim({"diagnose", "records", "--save", "again.yaml"}, folder.path());
  EXPECT_TRUE(is_printed_by("[collective-mismatch]", joined)) << joined.output << joined.problems;
  EXPECT_TRUE(is_printed_by("train.py:", joined)) << joined.output;
  EXPECT_TRUE(is_printed_by("saved    again.yaml, which ", joined)) << joined.output;
  EXPECT_EQ(cli_tests::run_pdsim({"run", "again.yaml"}, folder.path()).status, 0)
      << cli_tests::text_of(folder.path() / "again.yaml");
}

// A script under a launcher that is not pdsim's: rank 0 makes a barrier that rank 1 does not. Its rank is in `variable`.
std::string launched_script(const std::string& variable, const std::string& size) {
  return R"(import os
import torch
import torch.distributed as dist

rank, size = int(os.environ[")" + variable + R"("]), int(os.environ[")" + size + R"("])
dist.init_process_group("gloo", init_method="file://" + os.getcwd() + "/store", rank=rank, world_size=size)
if rank == 0:
    dist.barrier()
dist.all_reduce(torch.ones(4))
)";
}

cli_tests::Ended run_launched(const cli_tests::Folder& folder, const std::vector<std::string>& launcher) {
  std::vector<std::string> arguments{"run", "--on", "real", "--patience", "3s", "--"};
  arguments.insert(arguments.end(), launcher.begin(), launcher.end());
  return cli_tests::run_pdsim(arguments, folder.path());
}

// With the switches that let PyTorch 1.13's torchrun start on Python 3.11.
TEST_F(RealRun, DISABLED_RanksThatTorchrunStartedAreWatched) {
  const cli_tests::Folder folder;
  folder.write("train.py", launched_script("RANK", "WORLD_SIZE"));
  const cli_tests::Ended run = run_launched(
      folder, {python_with_torch(), "-m", "torch.distributed.run", "-r", "0:1", "-t", "0:1", "--nproc_per_node", "2", "train.py"});
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_TRUE(is_printed_by("deadlock[collective-mismatch]", run)) << run.output << run.problems;
}

// A stand-in that sets Slurm's variables.
TEST_F(RealRun, DISABLED_RanksWithTheEnvironmentOfSrunAreWatched) {
  const cli_tests::Folder folder;
  folder.write("train.py", launched_script("SLURM_PROCID", "SLURM_NTASKS"));
  folder.write("srun", R"(n=$1; shift; i=0
while [ $i -lt $n ]; do
  SLURM_PROCID=$i SLURM_NTASKS=$n SLURM_LOCALID=$i "$@" &
  i=$((i + 1))
done
wait
)");
  const cli_tests::Ended run = run_launched(folder, {"sh", "srun", "2", python_with_torch(), "train.py"});
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_TRUE(is_printed_by("deadlock[collective-mismatch]", run)) << run.output << run.problems;
}

TEST_F(RealRun, ALauncherThatFailsBeforeAnyRankIsNoDiagnosis) {
  const cli_tests::Ended run =
      cli_tests::run_pdsim({"run", "--on", "real", "--", python_with_torch(), "-c", "raise SystemExit(3)"}, "/");
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_NE(run.problems.find("no rank called init_process_group"), std::string::npos) << run.problems;
}

TEST_F(RealRun, AScriptMayRecordItselfUnderAnyLauncher) {
  const cli_tests::Folder folder;
  folder.write("train.py", R"(import os, sys
import torch
import torch.distributed as dist
import pdsim_guest

dist.init_process_group("gloo", init_method="file://" + os.getcwd() + "/store", rank=int(sys.argv[1]), world_size=2)
dist.all_reduce(torch.ones(4))
if sys.argv[1] == "1":
    os.kill(os.getpid(), 9)
dist.all_reduce(torch.ones(4))
)");
  const std::string package = (cli_tests::source_tree / "tools/guest").string();
  const std::string command = "cd " + folder.path().string() + " && export PDSIM_RECORD=records PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" +
                              package + " && { " + python_with_torch() + " train.py 0 2>/dev/null & " + python_with_torch() +
                              " train.py 1 2>/dev/null; wait; }";
  (void)std::system(command.c_str());
  const cli_tests::Ended joined = cli_tests::run_pdsim({"diagnose", "records"}, folder.path());
  EXPECT_TRUE(is_printed_by("error[rank-died]: rank 0 waited for rank 1", joined)) << joined.output << joined.problems;
  EXPECT_EQ(joined.output.find("replay"), std::string::npos) << "nobody can run it again\n" << joined.output;
}

TEST(RealInput, WhatIsOfTheSimulatedWorldIsRefusedInOneLine) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--seed", "3"}, {"--backend", "nccl"}, {"--fault", "crash: {}, match: {rank: 1}"}, {"--world", "world.yaml"}, {"--seeds", "3"},
           {"--compute", "5ms"}, {"--try-cures"}, {"--strategy", "random"}, {"--cuda-on-cpu"}}) {
    std::vector<std::string> arguments{"run", "-n", "2", "--on", "real"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "true"});
    const cli_tests::Ended run = cli_tests::run_pdsim(arguments, "/");
    EXPECT_EQ(run.status, 2) << run.problems;
    EXPECT_EQ(run.problems, "pdsim: " + flags.front() +
                                " applies to the simulated world; with --on real the script uses its own library; nothing was run\n");
  }
}

// Four scripts of the gallery; all of them where PDSIM_REAL_GALLERY is set.
std::vector<std::string> real_scripts() {
  std::vector<std::string> names{"calls/barrier_on_one_rank", "training/unused_parameters_repaired",
                                 "replicas/changed_by_hand_broken", "healthy/local_sgd"};
  if (std::getenv("PDSIM_REAL_GALLERY") == nullptr) return names;
  names.clear();
  for (const std::string folder : {"calls", "groups", "healthy", "replicas", "training"})
    for (const auto& entry :
         std::filesystem::directory_iterator(cli_tests::source_tree / "tests/guests/gallery" / folder))
      if (entry.path().extension() == ".py") names.push_back(folder + "/" + entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class RealGallery : public testing::TestWithParam<std::string> {};

TEST_P(RealGallery, FindsOnRealGlooWhatTheSimulatedWorldFinds) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const auto script = cli_tests::source_tree / "tests/guests/gallery" / (GetParam() + ".py");
  const std::string text = cli_tests::text_of(script);
  const auto said = [&](const std::string& key) {
    const std::size_t at = text.find("# " + key + ": ");
    const std::size_t begin = at + key.size() + 4;
    return at == std::string::npos ? std::string() : text.substr(begin, text.find('\n', at) - begin);
  };
  if (!said("flag").empty()) GTEST_SKIP() << "its flags are of the simulated world";
  const bool healthy = said("finds") == "nothing" || said("on real") == "nothing";
  const std::string patience = healthy ? "60s" : "3s";  // on a busy machine a healthy script may record nothing for seconds
  const cli_tests::Folder folder;
  const cli_tests::Ended run = cli_tests::run_pdsim({"run", "-n", said("ranks"), "--on", "real", "--patience", patience,
                                                     "--", python_with_torch(), script.string()},
                                                    folder.path());
  EXPECT_TRUE(folder.names().empty());
  if (said("on real") == "by chance" && run.status == 0) return;
  EXPECT_EQ(run.status, healthy ? 0 : 1) << run.output << run.problems;
  EXPECT_TRUE(is_printed_by(healthy ? "nothing to explain" : said("finds"), run)) << run.output << run.problems;
}

INSTANTIATE_TEST_SUITE_P(Scripts, RealGallery, testing::ValuesIn(real_scripts()),
                         [](const auto& script) { return std::filesystem::path(script.param).filename().string(); });

}  // namespace
}  // namespace pdsim::guest_tests
