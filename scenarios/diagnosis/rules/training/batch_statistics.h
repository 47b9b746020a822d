// SyncBatchNorm on some ranks, and plain batch norm on the others: the ones gather statistics where the others are past them.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>

namespace pdsim::scenarios::diagnoses {

// Only where the calls of the wrapper went apart there, and the record holds such statistics of every rank on the one side, and of none
// on the other.
std::optional<Diagnosis> statistics_of_some(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
