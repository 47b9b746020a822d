// The files of scenarios/reports/html/page, embedded by CMake: the HTML report and the index over reports, their styles and scripts.
//
//   report.html  {{title}}, {{style}}, {{summary}}, {{timeline}}, {{report}}, {{events}} and {{script}} stand for what a report fills in
//   report.css   Okabe-Ito colours, which colour-blind readers can tell apart; what is blocked is hatched as well
//   report.js    hovering and arrow keys; without it every bar still has its <title>
//   index.html   {{title}}, {{style}}, {{count}}, {{cards}} and {{script}}; its style comes after report.css
//   index.js     the search
#pragma once

#include <string_view>

namespace pdsim::scenarios::page {

extern const std::string_view report_html, report_css, report_js;
extern const std::string_view index_html, index_css, index_js;

}  // namespace pdsim::scenarios::page
