// Properties of time, and of ranks that die.
#include "tests/property/critical_path.h"
#include "tests/property/numbers.h"
#include "tests/property/properties.h"
#include "tests/property/worlds/sim_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pdsim::property {
namespace {

using namespace literals;

CollectiveCase on_ideal(CollectiveCase c) {
  c.backend = "ideal";
  return c;
}
CollectiveCase calm_and_ideal(CollectiveCase c) {
  c.schedule = 0;
  return on_ideal(c);
}
CollectiveCase with_a_victim(CollectiveCase c) {
  c.ranks = std::max(c.ranks, 2);
  Random draw = Random(c.data).stream("victim");
  if (c.victim != no_rank) return c;
  c.victim = static_cast<Rank>(draw.below(static_cast<std::uint64_t>(c.ranks)));
  c.moment = static_cast<int>(draw.below(1100)) - 1;
  return c;
}

// One message of a world in which nothing is shared takes the same time whatever else happens.
void share_nothing(sim::WorldSpec& spec, sim::RunOptions&) {
  spec.sharing = sim::Sharing::none;
  spec.reduce_bandwidth = Rate{100'000'000'000};
}

struct Times {
  Time taken, path;  // of the run; of its critical path
};

Times times_of(const CollectiveCase& c) {
  SimWorld world(share_nothing);
  sim::WorldSpec spec = spec_of(c);
  sim::RunOptions options;
  share_nothing(spec, options);
  return {world.run(std::span(&c, 1), inputs_of(c)).longest, critical_path(c, spec)};
}

std::string takes_its_critical_path(CollectiveWorld&, const CollectiveCase& c) {
  const auto [got, path] = times_of(c);
  return got == path ? "" : fmt::format("it took {}ps, and its critical path takes {}ps", got.ps, path.ps);
}

std::string noise_makes_nothing_faster(CollectiveWorld&, const CollectiveCase& c) {
  const auto [got, path] = times_of(c);
  return got >= path ? "" : fmt::format("it took {}ps, less than its critical path, {}ps", got.ps, path.ps);
}

std::string slower_links_are_no_faster(CollectiveWorld&, const CollectiveCase& c) {
  const auto time = [&](std::int64_t latency_times, std::int64_t bandwidth_divided_by) {
    SimWorld world([=](sim::WorldSpec& spec, sim::RunOptions&) {
      for (sim::Link* link : {&spec.intra, &spec.inter}) {
        link->latency = Time{link->latency.ps * latency_times / 4};
        link->bandwidth = Rate{link->bandwidth.bytes_per_s / 100 / bandwidth_divided_by};
      }
    });
    return world.run(std::span(&c, 1), inputs_of(c)).longest;
  };
  const Time base = time(4, 4), far = time(5, 4), narrow = time(4, 5);
  if (far < base) return fmt::format("with more latency it took {}ps, and {}ps before", far.ps, base.ps);
  if (narrow < base) return fmt::format("with less bandwidth it took {}ps, and {}ps before", narrow.ps, base.ps);
  return {};
}

bool entered(const RankLog& log, CollectiveKind kind) {
  return std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& call) { return call.name == name_of(kind); });
}

// Every survivor has the right result, or an error, or is told to be blocked.
std::string death_is_told(CollectiveWorld&, const CollectiveCase& c) {
  SimWorld world;
  const RankBuffers inputs = inputs_of(c);
  const WorldOutcome outcome = world.run(std::span(&c, 1), inputs);
  const RunRecord& record = *outcome.record;
  const bool victim_entered = entered(record.ranks[static_cast<std::size_t>(c.victim)].log, c.kind);
  for (Rank r = 0; r < c.ranks; ++r) {
    const RankLog& log = record.ranks[static_cast<std::size_t>(r)].log;
    const RankOutcome& rank = outcome.ranks[static_cast<std::size_t>(r)];
    if (log.end == RankEnd::running && !record.deadlocked)
      return fmt::format("rank {} neither ended nor is blocked", r);
    if (r == c.victim || log.end != RankEnd::returned) continue;
    if (!rank.ended || !rank.status.ok()) return fmt::format("rank {} returned, and its call did not", r);
    if (c.kind == CollectiveKind::barrier && !victim_entered)
      return fmt::format("rank {} left a barrier that rank {} never reached", r, c.victim);
    const std::string wrong = wrong_output(c, inputs, r, rank.output);
    if (!wrong.empty()) return "success with partial data: " + wrong;
  }
  return {};
}

constexpr std::array simulated_rows{
    Property{"takes_its_critical_path", any_collective, calm_and_ideal, takes_its_critical_path},
    Property{"noise_makes_nothing_faster", any_collective, on_ideal, noise_makes_nothing_faster},
    Property{"slower_links_are_no_faster", any_collective, calm_and_ideal, slower_links_are_no_faster},
    Property{"death_is_told", any_collective, with_a_victim, death_is_told},
};

}  // namespace

std::span<const Property> simulated_properties() { return simulated_rows; }

}  // namespace pdsim::property
