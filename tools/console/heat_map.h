// Pictures of the links between all ranks: a square with a cell for each pair, the sender's row and the receiver's column.
//
//   many ranks  beyond the size of the picture, several adjacent ranks share a cell, which shows the slowest of their links
#pragma once

#include "core/measure/pairs.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// A link whose time exceeds this multiple of its class's median is slow.
constexpr double slow_link = 2.0;

// One character a cell, by a link's time as a multiple of its class's median: `.` up to 1.25, `-` 1.5, `+` 2, `#` 4, `@` more.
std::string heat_text(int ranks, const std::vector<PairTimes>& pairs);

// Blue: the time of the longest message relative to the fastest link's, the darker the slower. Red: slow within its class.
// `classes`: their names.
std::string heat_svg(const std::string& title, int ranks, const std::vector<PairTimes>& pairs,
                     const std::vector<std::string>& classes);

}  // namespace pdsim::tools
