// The files of scenarios/reports/html/page, embedded by CMake: the HTML report and the index over reports, their styles and
// scripts.
//
//   report.html  placeholders for a report's contents: {{title}}, {{style}}, {{summary}}, {{timeline}}, {{report}}, {{events}},
//                {{script}}
//   report.css   Okabe-Ito colours, which colour-blind readers can distinguish; blocked spans are also hatched
//   report.js    hovering and arrow keys; without it every bar still has its <title>
//   index.html   {{title}}, {{style}}, {{count}}, {{cards}} and {{script}}; its style comes after report.css
//   index.js     the search
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

std::string escaped(std::string_view text);  // & < > " as HTML and XML want them

// `page` with each {{name}} replaced by its text, which may hold braces itself. Every name in the page must have one.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts);

}  // namespace pdsim::scenarios

namespace pdsim::scenarios::page {

extern const std::string_view report_html, report_css, report_js;
extern const std::string_view index_html, index_css, index_js;

}  // namespace pdsim::scenarios::page
