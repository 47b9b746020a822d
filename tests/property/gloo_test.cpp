// The same properties over real Gloo, a few cases of each algorithm; and bit for bit what the simulated world gives.
#include "backends/availability.h"
#include "tests/property/gloo_world.h"
#include "tests/property/same_bits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::property {
namespace {

TEST(Collectives, HoldOnGlooBitForBitAsInTheSimulatedWorld) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  GlooWorld world;
  if (const auto wanted = case_wanted()) {
    EXPECT_EQ(check_one(same_bits(), world, *wanted).failure, "");
    return;
  }
  for (const Algorithm& algorithm : algorithms()) {
    if (!same_bits().applies(algorithm)) continue;
    const Outcome outcome = check(same_bits(), world, algorithm, std::min(cases_wanted(1), 10));
    EXPECT_EQ(outcome.failure, "") << name_of(algorithm.kind) << "/" << algorithm.name;
  }
}

}  // namespace
}  // namespace pdsim::property
