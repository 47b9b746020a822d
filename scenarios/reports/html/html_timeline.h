// The SVG of the HTML report.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/reports/rank_rows.h"
#include "scenarios/reports/timeline_events.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pdsim::scenarios {

constexpr std::size_t most_rows = 64;  // of a picture

struct TimelinePicture {
  std::string svg;
  bool folded = false;  // idle gaps are folded in it
  std::size_t ranks_left_out = 0;
};

// `events` are those of the ranks shown in the rows. Beyond most_rows rows, it draws those with ranks that the diagnosis names,
// and the first ones. `fold`: idle gaps are narrowed.
TimelinePicture timeline_svg(const Report& report, const std::vector<RankRow>& rows, const TimelineEvents& events,
                             bool fold);

}  // namespace pdsim::scenarios
