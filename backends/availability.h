// The list of real worlds: whether each works on this machine with this build, the reason and the fix if not, and how it starts.
// All code that needs the names of worlds uses it.
//
// Adding one: its folder of backends and a row in availability.cpp; what its library does is a row of the tables in
// core/semantics.
#pragma once

#include "backends/process/slots.h"
#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <memory>
#include <span>
#include <string_view>

namespace pdsim {

Availability gloo_availability();
Availability mpi_availability();
Availability nccl_availability();

struct RealWorldRow {
  std::string_view name;   // as --on takes it
  std::string_view about;  // for people
  Availability (*available)();
  Result<std::unique_ptr<Backend>> (*make_backend)(Runtime& runtime);  // in a rank's process; `runtime` outlives it
  TakeSlots take_slots = nullptr;                                      // set where the library needs its own launcher
  bool ends_together = false;  // the launcher ends the job when a rank fails, as mpirun does
};

std::span<const RealWorldRow> real_worlds();
const RealWorldRow* real_world_row(std::string_view name);  // null for an unknown name

}  // namespace pdsim
