// Which real worlds work on this machine with this build, and for each that does not: why, and what to do.
#pragma once

#include "core/group/backend.h"

#include <span>
#include <string_view>

namespace pdsim {

Availability gloo_availability();
Availability mpi_availability();
Availability nccl_availability();

struct RealWorldRow {
  std::string_view name;  // as --on takes it
  Availability (*available)();
};

std::span<const RealWorldRow> real_worlds();

}  // namespace pdsim
