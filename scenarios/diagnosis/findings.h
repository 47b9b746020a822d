// Everything that is wrong with a run: the first rule that speaks for it, and of a dump one for each of its hangs.
#pragma once

#include "scenarios/diagnosis/report.h"

namespace pdsim::scenarios {

// Fills `findings`, and of dumps `hangs`. A dump whose open calls wait for nobody, and are not known to be old, is of a job that was running:
// its run is then no longer deadlocked, and the outcome ok.
void find_all(Report& report);

}  // namespace pdsim::scenarios
