// What the kernel's files say of the memory that is left, in folders of the test's own.

#include "backends/os/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace pdsim {
namespace {

namespace fs = std::filesystem;

class MachineMemory : public ::testing::Test {
 protected:
  MachineMemory() {
    std::string name = (fs::temp_directory_path() / "pdsim-memory-XXXXXX").string();
    root_ = mkdtemp(name.data());
    sources_ = {(root_ / "proc").string(), (root_ / "cgroups").string()};
    put("proc/meminfo", "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1000 kB\n");
  }
  ~MachineMemory() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  fs::path root_;
  MemorySources sources_;
};

TEST_F(MachineMemory, WithoutACgroupIsWhatTheMachineHas) {
  const auto left = memory_left(sources_);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->left.count, 1000 * 1024);
  EXPECT_EQ(left->bound, MemoryBound::machine);
}

TEST_F(MachineMemory, OfVersionTwoIsTheTightestOfTheCgroupsAround) {
  put("proc/self/cgroup", "0::/job/step\n");
  put("cgroups/job/memory.max", "500000\n");
  put("cgroups/job/memory.current", "300000\n");
  put("cgroups/job/memory.stat", "anon 1\ninactive_file 50000\n");
  put("cgroups/job/step/memory.max", "max\n");
  put("cgroups/job/step/memory.current", "300000\n");
  const auto left = memory_left(sources_);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->left.count, 250000);
  EXPECT_EQ(left->bound, MemoryBound::cgroup);
}

TEST_F(MachineMemory, OfVersionOneIsTheControllersLimit) {
  put("proc/self/cgroup", "4:cpu,memory:/box\n1:name=systemd:/\n");
  put("cgroups/memory/memory.limit_in_bytes", "400000\n");  // a container sees its own as the root
  put("cgroups/memory/memory.usage_in_bytes", "100000\n");
  const auto left = memory_left(sources_);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->left.count, 300000);
}

TEST_F(MachineMemory, ThatIsTooLittleIsToldWithBothNumbers) {
  EXPECT_TRUE(fits_in_memory("4 ranks", {}, Bytes{1000 * 1024}, sources_).ok());
  const Status wrong = fits_in_memory("4 ranks", {}, Bytes{2000 * 1024}, sources_);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message,
            "out of memory: 4 ranks need at least 1.953MiB of memory, and this machine has 1000KiB");
}

TEST_F(MachineMemory, ThatNobodyTellsIsEnough) {
  const MemorySources nowhere{(root_ / "none").string(), (root_ / "none").string()};
  EXPECT_FALSE(memory_left(nowhere));
  EXPECT_TRUE(fits_in_memory("4 ranks", {}, Bytes{1LL << 60}, nowhere).ok());
}

}  // namespace
}  // namespace pdsim
