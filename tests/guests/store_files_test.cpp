// A store file that an earlier run has left, in `pdsim run`: the recorded programs that run twice on one file, what becomes of the script's own
// keys, and files that hold something else.

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using cli_tests::Ended;
using cli_tests::Folder;

// mismatched_op and mismatched_root of the recorded programs, whose first run left through os._exit.
const std::string program = R"(import datetime, os
import torch
import torch.distributed as dist

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=size,
                        timeout=datetime.timedelta(minutes=30))
if size == 2:
    t = torch.full((4,), float(rank + 2))
    dist.all_reduce(t, op=dist.ReduceOp.SUM)
else:
    t = torch.full((2,), float(rank))
    dist.broadcast(t, 0 if rank == 0 else 1)
os._exit(0)
)";

bool is_in(const std::string& text, const Ended& run) {
  return run.output.find(text) != std::string::npos || run.problems.find(text) != std::string::npos;
}

class StoreFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  }
  Ended run(std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
    return cli_tests::run_pdsim(flags, folder_.path());
  }
  // On real Gloo, with two ranks.
  void run_first() const {
    folder_.write("train.py", program);
    const Ended first = run({"launch", "-n", "2"});
    ASSERT_EQ(first.status, 0) << first.output << first.problems;
    ASSERT_TRUE(std::filesystem::exists(folder_.path() / "store"));
  }
  void removes_the_file_as_rank_0() const {
    folder_.write("train.py", "import os\nif os.environ['RANK'] == '0' and os.path.exists('store'):\n    os.remove('store')\n" + program);
  }

  const Folder folder_;
};

// Recorded: each rank of the second run hangs in init_process_group, or its connection is refused, by who comes first.
TEST_F(StoreFiles, OfAnEarlierRunHoldUpTheSecondOneAndAFileOfItsOwnCuresThat) {
  run_first();
  const Ended second = run({"run", "-n", "2", "--try-cures", "--save", "mine.yaml"});
  EXPECT_EQ(second.status, 1) << second.output << second.problems;
  EXPECT_TRUE(is_in("[stale-rendezvous]", second)) << second.output;
  EXPECT_TRUE(is_in("train.py:6", second)) << second.output;
  EXPECT_TRUE(is_in("store contains data of an earlier run", second)) << second.problems;
  EXPECT_TRUE(is_in("a separate store file for each run", second)) << second.output;
  EXPECT_TRUE(is_in("saved    mine.yaml, which reproduces the run without the script", second)) << second.output;
  const Ended other = run({"run", "-n", "3"});
  EXPECT_EQ(other.status, 1) << other.output << other.problems;
  EXPECT_TRUE(is_in("[stale-rendezvous]", other)) << other.output;
}

TEST_F(StoreFiles, ThatRank0RemovesBeforeItsCallDoNoHarm) {
  run_first();
  removes_the_file_as_rank_0();
  const Ended second = run({"run", "-n", "2"});
  EXPECT_EQ(second.status, 0) << second.output << second.problems;
  EXPECT_FALSE(is_in("earlier run", second)) << second.problems;
}

TEST_F(StoreFiles, HaveTheScriptsOwnKeysOfTheEarlierRun) {
  folder_.write("train.py", R"(import os
import torch.distributed as dist

store = dist.FileStore("store", 2)
rank = int(os.environ["RANK"])
if "PDSIM_GUEST" in os.environ:
    assert store.get("turn") == b"first"
else:
    store.set("turn", "first")
    os._exit(0)
dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
dist.barrier()
)");
  ASSERT_EQ(run({"launch", "-n", "2"}).status, 0);
  const Ended second = run({"run", "-n", "2"});
  EXPECT_EQ(second.status, 0) << second.output << second.problems;
}

TEST_F(StoreFiles, WithSomethingElseInThemAreNamedAndBeginEmpty) {
  folder_.write("train.py", program);
  folder_.write("store", "these are no records of any store");
  const Ended run_of_it = run({"run", "-n", "2"});
  EXPECT_EQ(run_of_it.status, 0) << run_of_it.output << run_of_it.problems;
  EXPECT_TRUE(is_in("holds no store record at byte 0", run_of_it)) << run_of_it.problems;
  EXPECT_TRUE(is_in("the store begins empty here", run_of_it)) << run_of_it.problems;
}

}  // namespace
}  // namespace pdsim::guest_tests
