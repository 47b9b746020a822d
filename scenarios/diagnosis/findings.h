// Finds everything wrong with a run: the first rule that speaks for it, and for a dump one for each of its hangs.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// Fills `findings`, and for dumps `hangs`. A dump whose open calls wait for no rank, and are not known to be old, is from a job
// that was running: its run is then no longer deadlocked, and the outcome ok.
void find_all(Report& report);

// The finding and what else is true of the run, in the order in which it happened. Where each has a cure of its own, the first has
// them together as well.
std::vector<Diagnosis> in_order(const Report& report, Diagnosis found);

}  // namespace pdsim::scenarios
