// The report as one self-contained page: a timeline in SVG, the wait-for graph, the text report, the events as JSON.
//
//   network  none: no link, font, image or script from elsewhere
//   scripts  one, for hover linking; everything is readable without it
//   rows     beyond 16 ranks, those that made the same calls share one, which can be opened
//   cap      most_events calls and 64 rows, around the first divergence; the page says what it leaves out
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// `text`: the text report of the same run, shown below the picture.
std::string render_html(const Report& report, std::string_view text);

}  // namespace pdsim::scenarios
