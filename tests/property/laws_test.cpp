// Every property of the table, for every algorithm of the table.
#include "tests/property/properties.h"
#include "tests/property/worlds/sim_world.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::property {
namespace {

class Collectives : public ::testing::TestWithParam<Property> {};

TEST_P(Collectives, HoldsForEveryAlgorithm) {
  const Property& property = GetParam();
  SimWorld world;
  if (const auto wanted = case_wanted()) {
    const Outcome outcome = check_one(property, world, *wanted);
    EXPECT_EQ(outcome.failure, "");
    return;
  }
  int ran = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!property.applies(algorithm)) continue;
    const Outcome outcome = check(property, world, algorithm, cases_wanted(10));
    EXPECT_EQ(outcome.failure, "") << name_of(algorithm.kind) << "/" << algorithm.name;
    ran += outcome.cases;
  }
  RecordProperty("cases", ran);
  EXPECT_GT(ran, 0);
}

std::string name_of_row(const ::testing::TestParamInfo<Property>& row) { return std::string(row.param.name); }

INSTANTIATE_TEST_SUITE_P(sim, Collectives, ::testing::ValuesIn(properties().begin(), properties().end()), name_of_row);

INSTANTIATE_TEST_SUITE_P(simulated, Collectives,
                         ::testing::ValuesIn(simulated_properties().begin(), simulated_properties().end()),
                         name_of_row);

}  // namespace
}  // namespace pdsim::property
