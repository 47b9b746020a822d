// The programs in the comments of init_process_group.h and process_group.h, as they stand there (tests/CMakeLists.txt takes them out).
#include "core/group/init_process_group.h"
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <array>

namespace pdsim::sim {
namespace {

std::vector<RankResult> results_of(const RankProgram& program) {
  Result<RunRecord> run = sim::run(world(3), {}, program);
  EXPECT_TRUE(run.ok());
  for (const RankResult& rank : run->ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return std::move(run->ranks);
}

TEST(HeaderSnippets, InitProcessGroupSumsOverAllRanks) {
  const auto ranks = results_of([](RankEnvironment& env) -> ProgramResult {
#include "tests/snippets/init_process_group.inc"
    return {summed, {{"data", {data.begin(), data.end()}}}};
  });
  for (const RankResult& rank : ranks) EXPECT_EQ(rank.values.at("data"), (std::vector<double>{3, 6, 9, 12}));
}

TEST(HeaderSnippets, ProcessGroupGoesOnWhileTheCallRuns) {
  const auto ranks = results_of([](RankEnvironment& env) -> ProgramResult {
    Floats gradients{1, 2};
#include "tests/snippets/process_group.inc"
    return {reduced, {{"gradients", {gradients.begin(), gradients.end()}}}};
  });
  for (const RankResult& rank : ranks) EXPECT_EQ(rank.values.at("gradients"), (std::vector<double>{3, 6}));
}

}  // namespace
}  // namespace pdsim::sim
