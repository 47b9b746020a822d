// Pictures of the links between all ranks: a square with a cell for each pair, the sender's row and the receiver's column.
//
//   many ranks  of more than the picture has room for, several next to each other share a cell, which shows the slowest of their links
#pragma once

#include "core/measure/pairs.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// A link that takes so many times the median of its class is slow.
constexpr double slow_link = 2.0;

// One character a cell, by how many times the median of its class a link takes: `.` up to 1.25, `-` 1.5, `+` 2, `#` 4, `@` more.
std::string heat_text(int ranks, const std::vector<PairTimes>& pairs);

// Blue: the time of the longest message beside the fastest link's, the darker the slower. Red: slow within its class.
// `classes`: their names.
std::string heat_svg(const std::string& title, int ranks, const std::vector<PairTimes>& pairs,
                     const std::vector<std::string>& classes);

}  // namespace pdsim::tools
