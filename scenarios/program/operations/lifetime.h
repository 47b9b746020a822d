// What begins and ends a process of a job, and lets its time pass.
#pragma once

#include "scenarios/program/session.h"

namespace pdsim::scenarios::operations {

// Lets time pass on this rank: simulated work, or real sleep.
void pass_time(Session& s, Time time);

// The file's DDP options, with the rules of its profile.
DdpOptions ddp_options(const Scenario& scenario);

}  // namespace pdsim::scenarios::operations
