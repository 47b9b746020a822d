// MPI in processes that pdsim did not start: alone, and under mpirun.

#include "backends/availability.h"
#include "backends/os/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>

namespace pdsim {
namespace {

struct Said {
  int status = -1;
  std::string text;
};

Said run_process(const std::string& before, int size) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return {};
  const std::string printed = folder->path() + "/printed";
  const std::string settings =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "OMPI_MCA_plm=isolated "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none";
  const int ended = std::system(fmt::format("{} timeout 60 {} {} {} {} >{} 2>&1 </dev/null", settings, before,
                                            PDSIM_MPI_PROCESS, folder->path(), size, printed)
                                    .c_str());
  std::ifstream file(printed);
  return {WEXITSTATUS(ended), {std::istreambuf_iterator<char>(file), {}}};
}

class MpiProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = mpi_availability(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

TEST_F(MpiProcess, IsAWorldOfItsOwnWhenNobodyElseIsThere) {
  const Said said = run_process("", 1);
  EXPECT_EQ(said.text, "rank 0 of 1: 1\n");
  EXPECT_EQ(said.status, 0);
}

TEST_F(MpiProcess, IsToldThatItIsAloneWhenItWantsAGroupOfTwo) {
  const Said said = run_process("", 2);
  EXPECT_EQ(said.text, "the group has rank 1, but mpirun started 1 process\n");
  EXPECT_EQ(said.status, 1);
}

TEST_F(MpiProcess, SumsWithTheOthersUnderMpirun) {
  const Said said = run_process("mpirun -n 3", 3);
  EXPECT_EQ(said.status, 0) << said.text;
  for (const char* line : {"rank 0 of 3: 3\n", "rank 1 of 3: 3\n", "rank 2 of 3: 3\n"})
    EXPECT_NE(said.text.find(line), std::string::npos) << said.text;
}

}  // namespace
}  // namespace pdsim
