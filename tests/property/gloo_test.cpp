// The same properties over real Gloo, a few cases of each algorithm; and bit for bit what the simulated world gives.
#include "backends/availability.h"
#include "backends/gloo/gloo_backend.h"
#include "tests/property/same_bits.h"
#include "tests/property/worlds/thread_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::property {
namespace {

TEST(Collectives, HoldOnGlooBitForBitAsInTheSimulatedWorld) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  ThreadWorld world("gloo", [](Runtime& runtime) { return make_gloo_backend(runtime); });
  const Outcome outcome = check_all_plans(world, std::min(cases_wanted(1), 10));
  EXPECT_EQ(outcome.failure, "");
}

}  // namespace
}  // namespace pdsim::property
