// Finds the bracket that a syntax error is about; yaml-cpp reports only where it gave up.
#pragma once

#include "scenarios/text/diagnostic.h"

#include <optional>
#include <string_view>

namespace pdsim::scenarios {

// Returns the place of the last `bracket` ([ or {) of a YAML text that is not closed by the end of the text; none where the text has
// none. Skips comments, quoted values, and brackets inside plain values.
std::optional<Mark> last_open_bracket(std::string_view text, char bracket);

}  // namespace pdsim::scenarios
