// The schedule that a `pipeline` of the program describes.
#pragma once

#include "core/base/result.h"
#include "core/pipeline/schedule.h"
#include "scenarios/language/tables/operation_options.h"

namespace pdsim::scenarios {

// For this many ranks, checked. Errors: invalid_argument, with the facts line and column for an error within `order`.
Result<PipelineSchedule> pipeline_schedule(const PipelineOptions& options, int ranks);

}  // namespace pdsim::scenarios
