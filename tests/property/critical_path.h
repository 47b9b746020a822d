// How long a collective takes when nothing is shared: the longest path through the rounds of its plans.
//
//   model    a message leaves when its round begins, takes latency + bytes / bandwidth, and the sender is free after bytes /
//            bandwidth; a round ends with its last message, and what it combines costs bytes / reduce_bandwidth
//   buffers  unbounded, as on the ideal backend
#pragma once

#include "sim/world_spec.h"
#include "tests/property/collective_case.h"

namespace pdsim::property {

Time critical_path(const CollectiveCase& c, const sim::WorldSpec& spec);

}  // namespace pdsim::property
