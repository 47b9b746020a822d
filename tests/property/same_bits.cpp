#include "tests/property/same_bits.h"

#include "tests/property/numbers.h"
#include "tests/property/worlds/sim_world.h"

#include <fmt/format.h>

namespace pdsim::property {
namespace {

CollectiveCase small(CollectiveCase c) {
  c.nodes = 1;
  c.ranks = 1 + (c.ranks - 1) % 4;
  c.backend = "ideal";
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

constexpr Property property{"has_the_bits_of_the_simulated_world", any_collective, small,
                            has_the_bits_of_the_simulated_world};

}  // namespace

Outcome check_all_plans(CollectiveWorld& world, int cases_each) {
  if (const auto wanted = case_wanted()) return check_one(property, world, *wanted);
  int cases = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!property.applies(algorithm)) continue;
    Outcome outcome = check(property, world, algorithm, cases_each);
    cases += outcome.cases;
    outcome.cases = cases;
    if (!outcome.failure.empty()) return outcome;
  }
  Outcome all;
  all.cases = cases;
  return all;
}

}  // namespace pdsim::property
