#include "tests/property/worlds/sim_world.h"

#include "core/base/int_set.h"
#include "core/group/init_process_group.h"
#include "core/semantics/capabilities.h"
#include "core/semantics/profile.h"

#include <algorithm>

namespace pdsim::property {

using namespace literals;

namespace {
constexpr Time everyone_has_joined{1'000'000'000'000};
}  // namespace

sim::WorldSpec spec_of(const CollectiveCase& c) {
  sim::WorldSpec spec;
  spec.nodes = c.nodes;
  spec.ranks_per_node = c.ranks / c.nodes;
  spec.two_level = c.nodes > 1;
  spec.backend = c.backend;
  spec.seed = c.schedule;
  if (c.nodes > 1) spec.inter.latency = 20_us;
  if (c.schedule == 0) return spec;
  spec.intra.jitter = spec.inter.jitter = 20_us;
  Random draw = Random(c.schedule).stream("delays");
  for (int i = 0; i < 2; ++i) {
    sim::FaultSpec late;
    late.kind = FaultKind::delay;
    late.by = Time{static_cast<std::int64_t>(draw.below(200'000'000))};
    late.match.nth = IntSet::of({static_cast<std::int64_t>(1 + draw.below(12))});
    spec.faults.push_back(late);
  }
  return spec;
}

sim::RunOptions options_of(const CollectiveCase& c) {
  sim::RunOptions options;
  options.record_messages = true;
  if (c.schedule != 0) options.strategy = "random";
  return options;
}

std::string SimWorld::refuses(const CollectiveCase& c) const {
  Collective call;
  call.kind = c.kind;
  call.dtype = c.dtype;
  call.op = c.op;
  const LibrarySemantics* library = library_named(c.backend);
  if (library == nullptr) return "no such library";
  const Status offered = pdsim::check_supported(*library, profiles().front(), call);
  return offered.ok() ? "" : offered.error().message;
}

// The death of the victim, at its moment of a run without it.
sim::FaultSpec SimWorld::killing(const CollectiveCase& c, const RankBuffers& inputs) {
  CollectiveCase healthy = c;
  healthy.victim = no_rank;
  const Time whole = c.moment < 0 ? Time{} : CollectiveWorld::run(healthy, inputs).longest;
  sim::FaultSpec fault;
  fault.kind = FaultKind::crash;
  fault.match.rank = IntSet::of({c.victim});
  fault.at.time = c.moment < 0 ? Time{1} : everyone_has_joined + Time{whole.ps * c.moment / 1000};
  return fault;
}

WorldOutcome SimWorld::run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) {
  const CollectiveCase& c = steps.front();
  sim::WorldSpec spec = spec_of(c);
  sim::RunOptions options = options_of(c);
  if (adjust_) adjust_(spec, options);
  WorldOutcome outcome;
  outcome.ranks.resize(inputs.size());
  Time first = Time::max(), last{};
  if (c.victim != no_rank) spec.faults.push_back(killing(c, inputs));
  const auto program = [&](RankEnvironment& env) -> ProgramResult {
    auto joined = init_process_group(env);
    if (!joined.ok()) return {joined.error(), {}};
    env.runtime.sleep_until(everyone_has_joined);
    if (c.schedule != 0) {
      Random draw = Random(c.schedule).stream("late", static_cast<std::uint64_t>(env.rank));
      env.runtime.compute(Time{static_cast<std::int64_t>(draw.below(30'000'000))});
    }
    const Time began = env.runtime.now();
    RankOutcome mine = run_steps(*joined, steps, inputs);
    first = std::min(first, began);
    last = std::max(last, env.runtime.now());
    outcome.longest = last - first;
    const Status status = mine.status;
    outcome.ranks[static_cast<std::size_t>(env.rank)] = std::move(mine);
    return {status, {}};
  };
  Result<RunRecord> record = sim::run(spec, options, program);
  if (!record.ok()) {
    for (RankOutcome& rank : outcome.ranks) rank.status = record.error();
    return outcome;
  }
  outcome.record = std::move(*record);
  return outcome;
}

}  // namespace pdsim::property
