// Lists of ranks that fit a width: the ranks that do not fit are counted, so that no number is cut in two.
#pragma once

#include "core/base/types.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// "ranks 0..7, 16", or "ranks 0..7 and 24 more" where the whole list is wider.
std::string ranks_within(const std::vector<Rank>& ranks, std::size_t width);
// The same without the word in front: "0..7, 16".
std::string numbers_within(const std::vector<Rank>& ranks, std::size_t width);

}  // namespace pdsim::scenarios
