// Random programs without a mistake: whatever they do, nobody may be blamed for it.
//
//   worlds    2 to 6 ranks, every library's semantics and profile, flat and of two levels, jitter, stragglers, debug detail
//   programs  collectives on the world and on groups, blocking and not, messages, the store, DDP training with every
//             option, evaluation, checkpoints, samplers, join, and work of different length on each rank
#pragma once

#include <cstdint>
#include <string>

namespace pdsim::scenarios {

// The text of a scenario file. The same for the same seed.
std::string healthy_program(std::uint64_t seed);

}  // namespace pdsim::scenarios
