// MPI called as its own programs do: arguments are computed once, then the function is called repeatedly.
#pragma once

#include "backends/mpi/mpi_communicator.h"
#include "core/group/raw_caller.h"

#include <memory>

namespace pdsim {

// Owns the group's communicators.
std::unique_ptr<RawCaller> make_mpi_raw_caller(std::shared_ptr<MpiJob> job, const MpiGroup& group);

}  // namespace pdsim
