#include "tests/property/native_laws.h"

#include "core/semantics/capabilities.h"

namespace pdsim::property {
namespace {

// Sums that round depend on the order, which is the library's.
CollectiveCase exact_among_few(CollectiveCase c) {
  c.nodes = 1;
  c.ranks = 1 + (c.ranks - 1) % 4;
  c.numbers = Numbers::exact;
  if (c.op == ReduceOp::avg && row(c.dtype).floating) c.op = ReduceOp::sum;
  return c;
}

}  // namespace

Outcome check_native(CollectiveWorld& world, int cases_each) {
  int cases = 0;
  for (const CollectiveRow& collective : collective_table) {
    if (!collective.planned) continue;
    if (!capabilities_of(world.name()).has(collective.kind)) continue;
    const Algorithm native{collective.kind, "native", nullptr};
    for (Property property : properties()) {
      if (!property.applies(native)) continue;
      property.shape = exact_among_few;
      Outcome outcome = check(property, world, native, cases_each);
      cases += outcome.cases;
      outcome.cases = cases;
      if (!outcome.failure.empty()) return outcome;
    }
  }
  Outcome all;
  all.cases = cases;
  return all;
}

}  // namespace pdsim::property
