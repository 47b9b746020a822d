// The files of scenarios/reports/html/page, embedded by CMake: the page of the HTML report, its style and its script.
//
//   report.html  {{title}}, {{style}}, {{summary}}, {{timeline}}, {{report}}, {{events}} and {{script}} stand for what a report fills in
//   report.css   Okabe-Ito colours, told apart by the colour-blind; what is blocked is hatched as well
//   report.js    hovering and arrow keys; without it every bar still has its <title>
#pragma once

#include <string_view>

namespace pdsim::scenarios::page {

extern const std::string_view report_html, report_css, report_js;

}  // namespace pdsim::scenarios::page
