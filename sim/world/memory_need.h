// The memory that a simulated world uses before its first rank has done anything, to compare with what the machine has.
#pragma once

#include "core/base/quantity.h"

#include <cstddef>

namespace pdsim::sim {

// Of the stack of one rank's fiber.
std::size_t stack_bytes(int ranks);

struct MemoryNeed {
  Bytes address_space;  // stacks are mapped whole
  Bytes memory;         // and few of their pages are touched
};

// At least; models, messages and records come on top of it.
MemoryNeed memory_need(int ranks);

}  // namespace pdsim::sim
