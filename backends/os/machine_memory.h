// The memory that this process may still allocate, and the limit that bounds it.
//
//   address space  RLIMIT_AS, minus the mapped bytes
//   memory         the smaller of MemAvailable and the rest left by the cgroups around the process (v2, or v1); file pages that
//                  the kernel can reclaim count as free
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

// The kernel's files to read; tests use folders of their own.
struct MemorySources {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

// For a command that allocates and frees gigabytes, a third of whose time page faults would take: freed memory stays with the process,
// and its heap grows by 64 MiB at a time. Before other threads start; only glibc's heap.
void keep_freed_memory();

// Nothing if there is no limit.
std::optional<MemoryLeft> address_space_left(const MemorySources& sources = {});

// Nothing if the kernel does not report it.
std::optional<MemoryLeft> memory_left(const MemorySources& sources = {});

// internal, when `what` ("4000 simulated ranks") needs more than is available: with both numbers and the limit.
Status fits_in_memory(const std::string& what, Bytes address_space, Bytes memory, const MemorySources& sources = {});

}  // namespace pdsim
