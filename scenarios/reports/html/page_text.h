// Filling in the embedded pages (page.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

std::string escaped(std::string_view text);  // & < > " as HTML and XML want them

// `page` with each {{name}} replaced by its text, which may hold braces itself. Every name in the page must have one.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts);

}  // namespace pdsim::scenarios
