// The slots of a world of MPI processes on this machine: mpirun starts one process per rank that keeps its slot.
//
//   environment  for mpirun: as root, more ranks than cores, one machine without ssh, only shared memory, no binding to cores.
//                Variables set by the caller (OMPI_MCA_...) are kept
//   files        of mpirun and of the shared memory are in one folder of their own: in TMPDIR where that is set, else in memory
//                where the machine has /dev/shm
//   end          the slot holders read a pipe that closes with this process; mpirun is killed when this process is
//   source       Open MPI 4.1
#pragma once

#include "backends/process/slots.h"

#include <string>

namespace pdsim {

Result<std::unique_ptr<Slots>> take_mpi_slots(int ranks, const sigset_t& signal_mask,
                                              const std::function<bool()>& interrupted);

// Why mpirun cannot be started, and what to install; empty when it can.
std::string mpirun_problem();

}  // namespace pdsim
