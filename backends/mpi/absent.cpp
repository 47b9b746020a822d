// Stubs for a build without Open MPI.

#include "backends/availability.h"
#include "backends/mpi/mpi_backend.h"
#include "backends/mpi/mpi_slots.h"

namespace pdsim {

Result<std::unique_ptr<Backend>> make_mpi_backend(Runtime&) {
  return Error{Code::unavailable, mpi_availability().reason, {}};
}

Result<std::unique_ptr<Slots>> take_mpi_slots(int, const sigset_t&, const std::function<bool()>&) {
  return Error{Code::unavailable, mpi_availability().reason, {}};
}

std::string mpirun_problem() { return mpi_availability().reason; }

}  // namespace pdsim
