// The waits at the moment to look at: the deadlock, or just before the first rank gave up.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios::diagnoses {

struct Waits {
  std::vector<BlockedRank> blocked;
  std::vector<Rank> cycle;
};
// For a deadlock, the report's waits; for a timeout, those of the records; otherwise empty.
Waits waits_of(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
