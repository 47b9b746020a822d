// The cost of a rank's own work in the simulated world. Toy layers take no time worth measuring, so these stand for a small model
// on an accelerator: large enough beside microseconds of latency that forward, backward and communication can be distinguished on
// a timeline, in the usual proportion of one to two. Real worlds take their real time.
#pragma once

#include "core/base/quantity.h"

namespace pdsim::scenarios::costs {

using namespace literals;

inline constexpr Time forward_per_layer = 20_us;
// Charged in equal parts as the layer's gradients become ready; a layer without parameters is counted with its neighbour.
inline constexpr Time backward_per_layer = 40_us;
inline constexpr Time optimizer_step = 10_us;

}  // namespace pdsim::scenarios::costs
