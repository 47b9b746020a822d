// Open MPI as a Backend: two communicators per group, and one thread of this process that makes every MPI call.
//
//   process   was started by mpirun, or has the slot of one that was (mpi_slots.h); otherwise it is a world of one rank.
//   process   was started by mpirun, or has the slot of one that was (mpi_slots.h); otherwise it is a world of one rank.
//   join      waits in the store until every member is there (store_timeout), then they make the communicators together
//   join      waits in the store until every member has arrived (store_timeout), then they create the communicators together
//             plan, over MPI's point-to-point messages. Several may run at once
//             plan, over MPI's point-to-point messages. Several may run at once
//   timeout   MPI has none: its own operations, sends and receives wait forever, and the launcher notices the hang. Plans and
//             the communicator's transport keep theirs. A receive can be withdrawn; when anything else is left undone, this
//             process makes no further MPI call, so that no late message is written into freed memory
//   end       the backend's destructor waits for all other ranks (MPI_Finalize), unless something was left undone
//   errors    MPI_ERRORS_RETURN everywhere: codes become errors in one file
//   source    Open MPI 4.1
#pragma once

#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <memory>

namespace pdsim {

// `runtime` outlives the backend. Errors: unavailable (built without Open MPI, or MPI has ended in this process).
Result<std::unique_ptr<Backend>> make_mpi_backend(Runtime& runtime);

}  // namespace pdsim
