// The same properties over real Open MPI and NCCL: four rank processes that check them together.
#include "scenarios/worlds/real_world.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::property {
namespace {

using namespace literals;

void expect_that_all_hold(const std::string& name, const std::string& what) {
  const auto world = scenarios::real_world(name);
  if (const Availability here = world->available(); !here.yes) GTEST_SKIP() << here.reason;
  scenarios::Scenario scenario;
  scenario.world.spec.ranks_per_node = 4;
  scenarios::RunOptions options;
  options.executable = PDSIM_PROPERTY_RANK;
  options.rank_command = {"rank", name, what};
  options.patience = 30_s;
  const Result<RunRecord> record = world->run(scenario, options, {});
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_FALSE(record->deadlocked);
  for (const RankResult& rank : record->ranks) {
    ASSERT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    EXPECT_GT(rank.values.at("cases").at(0), 0.0);
  }
}

TEST(Collectives, HoldOnMpiBitForBitAsInTheSimulatedWorld) { expect_that_all_hold("mpi", "plans"); }
TEST(Collectives, HoldForMpisOwn) { expect_that_all_hold("mpi", "native"); }
TEST(Collectives, HoldOnNcclBitForBitAsInTheSimulatedWorld) { expect_that_all_hold("nccl", "plans"); }
TEST(Collectives, HoldForNcclsOwn) { expect_that_all_hold("nccl", "native"); }

}  // namespace
}  // namespace pdsim::property
