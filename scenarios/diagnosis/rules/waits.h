// Who waited for whom at the moment that counts: the deadlock, or just before the first rank gave up.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios::diagnoses {

struct Waits {
  std::vector<BlockedRank> blocked;
  std::vector<Rank> cycle;
};
// Of a deadlock what the report has; of a timeout from the records; else empty.
Waits waits_of(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
