// Calls that join() makes on ranks which have run out of inputs, for what the others still call.
//
//   why   they are the others' calls, from another line; as calls of their own they would look like ranks that call different things
#pragma once

#include "scenarios/guests/saved/rank_operations.h"

#include <vector>

namespace pdsim::scenarios::guests {

// In place of such calls, a rank gets the operations of the rank that they shadow, with its waits. Where one of them does not match the
// call that it meets, all of the rank's stay as they are: that is what a report of the file has to show.
void follow_shadowed(std::vector<RankOperations>& ranks);

}  // namespace pdsim::scenarios::guests
