// How much memory this process may still allocate, and what limits it.
//
//   address space  RLIMIT_AS, less what is mapped
//   memory         the smaller of MemAvailable and what the cgroups around the process (v2, or v1) leave it; file pages that the
//                  kernel can give up count as free
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <optional>
#include <string>

namespace pdsim {

enum class MemoryBound : char { address_space, cgroup, machine };

struct MemoryLeft {
  Bytes left;
  MemoryBound bound = MemoryBound::machine;
};

// Where the kernel says so; tests put folders of their own there.
struct MemorySources {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

// Without a limit: nothing.
std::optional<MemoryLeft> address_space_left(const MemorySources& sources = {});

// Nothing where the kernel does not say.
std::optional<MemoryLeft> memory_left(const MemorySources& sources = {});

// internal, when `what` ("4000 simulated ranks") need more than there is: with both numbers and what sets the bound.
Status fits_in_memory(const std::string& what, Bytes address_space, Bytes memory, const MemorySources& sources = {});

}  // namespace pdsim
