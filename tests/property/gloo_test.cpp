// The same properties over real Gloo, a few cases of each algorithm; and bit for bit what the simulated world gives.
#include "backends/availability.h"
#include "tests/property/gloo_world.h"
#include "tests/property/numbers.h"
#include "tests/property/properties.h"
#include "tests/property/sim_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace pdsim::property {
namespace {

bool any_collective(const Algorithm& a) { return !row(a.kind).point_to_point; }
CollectiveCase small(CollectiveCase c) {
  c.nodes = 1;
  c.ranks = 1 + (c.ranks - 1) % 4;
  c.personality = "ideal";
  return c;
}

std::string has_the_bits_of_the_simulated_world(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  SimWorld simulated;
  const WorldOutcome real = world.run(c, inputs), expected = simulated.run(std::span(&c, 1), inputs);
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    const RankOutcome& rank = real.ranks[r];
    if (!rank.status.ok()) return fmt::format("rank {} failed: {}", r, rank.status.error().message);
    if (!same_numbers(c.dtype, rank.output, expected.ranks[r].output)) return fmt::format("rank {} has other bits", r);
  }
  return wrong_ranks(c, inputs, real);
}

constexpr Property same_bits{"has_the_bits_of_the_simulated_world", any_collective, small,
                             has_the_bits_of_the_simulated_world};

TEST(Collectives, HoldOnGlooBitForBitAsInTheSimulatedWorld) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  GlooWorld world;
  if (const auto wanted = case_wanted()) {
    EXPECT_EQ(check_one(same_bits, world, *wanted).failure, "");
    return;
  }
  for (const Algorithm& algorithm : algorithms()) {
    if (!same_bits.applies(algorithm)) continue;
    const Outcome outcome = check(same_bits, world, algorithm, std::min(cases_wanted(1), 10));
    EXPECT_EQ(outcome.failure, "") << name_of(algorithm.kind) << "/" << algorithm.name;
  }
}

}  // namespace
}  // namespace pdsim::property
