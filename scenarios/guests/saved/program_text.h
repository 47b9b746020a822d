// A merged program as YAML below `program:`.
//
//   loops     entries that come again, in the same order and by the same ranks, become one `repeat`; a wait stays in one round with what
//             it waits for
//   comments  the places of the script
//   cost      O(n x most_of_a_round)
#pragma once

#include "scenarios/guests/saved/merged_program.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// Entries of one round of a loop, at most.
inline constexpr std::size_t most_of_a_round = 512;

// Each entry begins with two spaces.
std::string program_text(const std::vector<MergedOperation>& program, int ranks);

// 3, 1..3 or [0, 2, 5], of ascending numbers.
std::string set_text(const std::vector<Rank>& ranks);

}  // namespace pdsim::scenarios::guests
