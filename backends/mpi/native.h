// MPI's own collectives, behind pdsim's Collective value.
//
//   copies   the scaled inputs of avg and premul_sum, and inputs that overlap the output other than in MPI's own in-place forms
//   counts   MPI 3 counts with int: a call over 2^31 - 1 elements in one buffer is limit_exceeded
//   order    MPI's own for floating-point sums
#pragma once

#include "backends/mpi/mpi_engine.h"
#include "backends/mpi/mpi_transport.h"
#include "backends/mpi/reductions.h"
#include "core/base/callback.h"
#include "core/collectives/collective.h"

namespace pdsim {

// `call` must be of a kind that MPI has (capabilities.h). Call it on the engine's thread; `done` is called once, there, perhaps
// before this returns.
void start_native(MpiEngine& engine, MpiReductions& reductions, const MpiGroup& group, Collective call,
                  Callback<Status> done);

}  // namespace pdsim
