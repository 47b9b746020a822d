// A schedule as a picture of rank against time: text for a terminal, and SVG.
#pragma once

#include "core/pipeline/timing.h"

#include <string>

namespace pdsim {

// One line a rank; each action is drawn at its start, as wide as it is long, in units of the shortest action; dots while the rank
// waits. At most `columns` wide; a line below says how much is cut off on the right. `timing` must be that of this schedule.
std::string draw_pipeline(const PipelineSchedule& schedule, const PipelineTiming& timing, std::size_t columns = 160);

// A row for each rank, a box for each action, with its times in a tooltip. At most the first 20,000 actions.
std::string draw_pipeline_svg(const PipelineSchedule& schedule, const PipelineTiming& timing);

}  // namespace pdsim
