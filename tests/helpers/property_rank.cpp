// A rank process that checks properties of collectives on drawn cases, together with the other ranks of its world:
// `rank <world> <what>`, as the launcher starts it.
//
//   plans    bit for bit what the simulated world gives, every algorithm
//   native   every law of the collectives, of what the library itself has

#include "core/group/join_world.h"
#include "scenarios/engine/real_world.h"
#include "tests/property/member_world.h"
#include "tests/property/same_bits.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace pdsim::property {
namespace {

using namespace literals;

Status failed(const Outcome& outcome) {
  return outcome.failure.empty() ? Status{} : Error{Code::wrong_data, outcome.failure, {}};
}

Status check_plans(CollectiveWorld& world, double& cases) {
  if (const auto wanted = case_wanted()) return failed(check_one(same_bits(), world, *wanted));
  for (const Algorithm& algorithm : algorithms()) {
    if (!same_bits().applies(algorithm)) continue;
    const Outcome outcome = check(same_bits(), world, algorithm, cases_wanted(2));
    cases += outcome.cases;
    PDSIM_TRY(failed(outcome));
  }
  return {};
}

// Sums that round depend on the order, which is the library's.
CollectiveCase exact_among_few(CollectiveCase c) {
  c.nodes = 1;
  c.ranks = 1 + (c.ranks - 1) % 4;
  c.numbers = Numbers::exact;
  if (c.op == ReduceOp::avg && row(c.dtype).floating) c.op = ReduceOp::sum;
  return c;
}

Status check_native(CollectiveWorld& world, double& cases) {
  for (const CollectiveRow& collective : collective_table) {
    if (collective.point_to_point || collective.kind == CollectiveKind::monitored_barrier) continue;
    const Algorithm native{collective.kind, "native", nullptr};
    for (Property property : properties()) {
      if (!property.applies(native)) continue;
      property.shape = exact_among_few;
      const Outcome outcome = check(property, world, native, cases_wanted(2));
      cases += outcome.cases;
      PDSIM_TRY(failed(outcome));
    }
  }
  return {};
}

}  // namespace
}  // namespace pdsim::property

int main(int argc, char** argv) {
  using namespace pdsim;
  using namespace pdsim::literals;
  const std::string_view world_name = argc > 2 ? argv[2] : "", what = argc > 3 ? argv[3] : "";
  auto channel = RankChannel::open();
  if (!channel.ok()) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 3;
  }
  return scenarios::run_rank(**channel, world_name, {}, [what](RankEnvironment& env) {
    ProgramResult result;
    auto store = env.rendezvous.env(60_s);
    if (!store.ok()) return ProgramResult{store.error(), {}};
    property::MemberWorld world(env, **store);
    double cases = 0;
    result.status = what == "native" ? property::check_native(world, cases) : property::check_plans(world, cases);
    result.values["cases"] = {cases};
    return result;
  });
}
