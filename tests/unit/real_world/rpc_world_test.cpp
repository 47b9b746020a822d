// The recorded programs over RPC, in real worlds: every value and text is that of the simulated world, which oracle_test.cpp compares
// with PyTorch's.

#include "sim/run.h"
#include "tests/helpers/rpc_programs.h"
#include "tests/unit/real_world/world_run.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

using namespace literals;

class RpcInRealWorlds : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (const Availability here = real_world(GetParam())->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

std::vector<RpcLog> simulated(const RpcProgram& program) {
  sim::WorldSpec spec;
  spec.ranks_per_node = program.ranks;
  std::vector<RpcLog> logs(static_cast<std::size_t>(program.ranks));
  const auto run = sim::run(spec, {}, [&](RankEnvironment& env) -> ProgramResult {
    return {program.run(env, logs[static_cast<std::size_t>(env.rank)], 50_ms), {}};
  });
  EXPECT_TRUE(run.ok());
  return logs;
}

// Not same_name: rank 0 ends with its error, and the store with it, perhaps before the other has read the names.
TEST_P(RpcInRealWorlds, EveryValueAndTextIsThatOfTheSimulatedWorld) {
  for (const std::string name : {"calls", "rrefs", "to_here_in_server", "leaked_rref", "init_twice", "shards"}) {
    SCOPED_TRACE(name);
    const RpcProgram& program = *rpc_program(name);
    const RunRecord record = run_in(GetParam(), "rpc_" + name, program.ranks, 20_s);
    ASSERT_EQ(record.ranks.size(), static_cast<std::size_t>(program.ranks));
    EXPECT_FALSE(record.deadlocked);
    const std::vector<RpcLog> expected = simulated(program);
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
      const RankResult& result = record.ranks[rank];
      ASSERT_EQ(result.log.end, RankEnd::returned) << result.log.error.message;
      const std::vector<double> got = result.values.at("log"), wanted = digests_of(expected[rank]);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], wanted[i]) << expected[rank][i].what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Real, RpcInRealWorlds, ::testing::Values("gloo", "mpi"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace pdsim::scenarios
