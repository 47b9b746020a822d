// Whether a machine is fit for jobs of several processes: the report of `pdsim doctor`.
#pragma once

#include "backends/os/machine.h"

#include <string>
#include <vector>

namespace pdsim {

struct MachineCheck {
  std::string subject;  // "shared memory"
  std::string found;    // what the machine has
  std::string advice;   // the fix; empty: it is fit
};

// One check each of: name, the interface that each library uses, open files, locked memory, shared memory, clock, cores and
// memory, kernel, and the variables that libraries read.
std::vector<MachineCheck> machine_checks(const Machine& machine);

// The interfaces that a library would use by default, or the one that its variable names.
//   source   NCCL: `NCCL_SOCKET_IFNAME` in its documentation (not lo, not docker*); Gloo: PyTorch's ProcessGroupGloo.cpp, the
//            interface of the address that the host's name resolves to, else loopback; Open MPI: btl_tcp_if_exclude, all but
//            loopback
std::string interface_of_nccl(const Machine& machine);
std::string interface_of_gloo(const Machine& machine);
std::string interfaces_of_openmpi(const Machine& machine);

}  // namespace pdsim
