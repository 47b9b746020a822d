// The memory that a simulated world uses before its first rank has run, to compare with the machine's.
#pragma once

#include "core/base/quantity.h"

#include <cstddef>

namespace pdsim::sim {

// Size of the stack of one rank's fiber.
std::size_t stack_bytes(int ranks);

struct MemoryNeed {
  Bytes address_space;  // stacks are mapped whole
  Bytes memory;         // only a few of their pages are touched
};

// A lower bound; models, messages and records come on top of it.
MemoryNeed memory_need(int ranks);

}  // namespace pdsim::sim
