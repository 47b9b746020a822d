// What each device of a DataParallel model did and held.
#pragma once

#include "scenarios/program/session.h"

namespace pdsim::scenarios::operations {

// Notes the loads of the last step of a train, which took this long; only where the file has `data_parallel`.
void note_device_loads(Session& s, Time step);

}  // namespace pdsim::scenarios::operations
