// Loops that some ranks leave earlier than others, found from the programs alone.
#pragma once

#include "scenarios/diagnosis/analysis/schedule_difference.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdsim::scenarios::diagnoses {

struct LoopsApart {
  int mine = 0, theirs = 0;  // of Schedule::loops, of the culprits and of the others: where each side has a line of its own, two
  std::int64_t my_rounds = 0, their_rounds = 0;
};

// The loop whose last rounds contain the calls that only one side makes; nothing when both sides run it equally often.
std::optional<LoopsApart> loops_apart(const Report& report, const ScheduleDifference& difference);

// "The ranks leave the loop at line 11 at different times: after 4 rounds on rank 1; after 5 rounds on ranks 0, 2. "; empty where
// no rank leaves a loop before the others.
std::string loops_text(const Report& report, const ScheduleDifference& difference);

}  // namespace pdsim::scenarios::diagnoses
