// Failed calls of Gloo. For a call that is over, its dumps show only that it is `retired`, which is also true of failed ones.
//
//   proof    a call that needs all ranks is the last of every rank that made it, each of these wrote its dump when the call's
//            timeout had just run out (Gloo raises then), and a member of the group that has a dump made the call before it and
//            not this one
//   silence  without that proof a dump that lacks the newest call may simply be older: nothing is concluded
#pragma once

#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Sets Entry::failed.
void mark_failed(std::vector<Dump>& dumps);

}  // namespace pdsim::scenarios::pytorch
