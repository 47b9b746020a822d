// Whatever ends `pdsim run`, nothing stays behind: no process of its or of the script's, no file, no port, no shared memory.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using cli_tests::Folder;
using cli_tests::Leftovers;
using cli_tests::Running;

// One rank sits in a call of the simulated world, the other one computes.
constexpr const char* busy = R"(import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    if rank >= 0:
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=size)
    else:
        dist.init_process_group("gloo")
    if dist.get_rank() == 1:
        dist.barrier()
    open(f"ready.{dist.get_rank()}", "w").close()
    while True:
        pass


if __name__ == "__main__":
    import os
    if "RANK" in os.environ:
        train(-1, -1)
    else:
        mp.spawn(train, args=(2,), nprocs=2)
)";

class LeftBehind : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
    folder_.write("train.py", busy);
  }
  std::vector<std::string> command(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
    return flags;
  }
  // The status of pdsim, which the signal reaches in the middle of the script.
  int ended_in_the_script(const std::vector<std::string>& flags, int signal) const {
    const Running run(command(flags), folder_.path());
    EXPECT_TRUE(run.wait_until([this] { return std::filesystem::exists(folder_.path() / "ready.0"); }));
    return run.interrupted(signal);
  }

  const Leftovers before_;
  const Folder folder_;
};

TEST_F(LeftBehind, IsNothingAfterARequestToEnd) {
  EXPECT_EQ(ended_in_the_script({"-n", "2"}, SIGTERM), 128 + SIGTERM);
  EXPECT_TRUE(before_.none_of(folder_, {"train.py", "ready.0"}));
}

TEST_F(LeftBehind, IsNothingOfAScriptThatStartsItsRanksItself) {
  EXPECT_EQ(ended_in_the_script({}, SIGINT), 128 + SIGINT);
  EXPECT_TRUE(before_.none_of(folder_, {"train.py", "ready.0"}));
}

TEST_F(LeftBehind, IsNothingWherePdsimItselfIsKilled) {
  EXPECT_EQ(ended_in_the_script({"-n", "2"}, SIGKILL), 128 + SIGKILL);
  EXPECT_TRUE(before_.none_of(folder_, {"train.py", "ready.0"}));
}

TEST_F(LeftBehind, IsNothingOfAnImportThatIsInterrupted) {
  folder_.write("torch.py", "open('begun', 'w').close()\nwhile True:\n    pass\n");
  const char* const set = std::getenv("PYTHONPATH");
  const std::optional<std::string> former = set == nullptr ? std::nullopt : std::optional<std::string>(set);
  setenv("PYTHONPATH", folder_.path().c_str(), 1);  // so that the interpreter which forks the ranks finds it
  const Running run(command({"-n", "2"}), folder_.path());
  former ? setenv("PYTHONPATH", former->c_str(), 1) : unsetenv("PYTHONPATH");
  EXPECT_TRUE(run.wait_until([this] { return std::filesystem::exists(folder_.path() / "begun"); }));
  EXPECT_EQ(run.interrupted(SIGINT), 128 + SIGINT);
  EXPECT_TRUE(before_.none_of(folder_, {"train.py", "torch.py", "begun"}));
}

TEST_F(LeftBehind, IsTheSavedFileAloneAfterAHang) {
  folder_.write("train.py", R"(import torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    dist.barrier()
)");
  const Running run(command({"-n", "2", "--save", "my_calls.yaml"}), folder_.path());
  EXPECT_EQ(run.status(), 1);
  EXPECT_TRUE(before_.none_of(folder_, {"train.py", "my_calls.yaml"}));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "my_calls.yaml"));
}

}  // namespace
}  // namespace pdsim::guest_tests
