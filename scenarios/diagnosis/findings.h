// Everything that is wrong with a run: the first rule that speaks for it, and of a dump one for each of its hangs; and what stood before
// a finding. A silent cause is not lost because a hang came after it, and calls that met others' before a wrapper noticed anything come
// first.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// Fills `findings`, and of dumps `hangs`. A dump whose open calls wait for nobody, and are not known to be old, is of a job that was running:
// its run is then no longer deadlocked, and the outcome ok.
void find_all(Report& report);

// The finding and what else is true of the run, in the order in which it happened. Where each has a cure of its own, the first has
// them together as well.
std::vector<Diagnosis> in_order(const Report& report, Diagnosis found);

}  // namespace pdsim::scenarios
