// The SVG of the HTML report.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/reports/timeline_events.h"

#include <string>

namespace pdsim::scenarios {

struct TimelinePicture {
  std::string svg;
  bool folded = false;  // idle gaps are folded in it
  std::size_t ranks_left_out = 0;
};
TimelinePicture timeline_svg(const Report& report, const TimelineEvents& events, bool fold);

}  // namespace pdsim::scenarios
