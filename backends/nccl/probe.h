// Tells whether NCCL works on this machine, from facts available without a GPU, and which device a rank uses.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {

struct NcclLibrary;

struct NcclFacts {
  std::string not_loaded;      // why libnccl could not be loaded; empty: it was
  int nccl_version = 0;        // as NCCL writes it: 22809
  int runtime_version = 0;     // as CUDA writes it: 13000
  int driver_version = 0;      // the newest runtime that the driver supports; 0 without a driver
  int devices = 0;             // 0: none, or not available
  std::string device_error;    // the runtime's error when it was asked for them
  int ranks_here = 0;          // on this machine; 0: not known yet
  bool host_id_given = false;  // NCCL_HOSTID is in the environment already
};

// "2.28.9" for 22809, "2.7.8" for 2708.
std::string nccl_version_text(int version);
// "13.0" for 13000.
std::string cuda_version_text(int version);

// The first reason why it does not work, with the fix; empty: none is known.
std::string nccl_problem(const NcclFacts& facts);

// Queries the library and the runtime. `ranks_here` as above.
NcclFacts nccl_facts(const NcclLibrary& library, int ranks_here);

// A rank's number on its machine, and the number of ranks there.
struct LocalSlot {
  int rank = 0;
  int ranks = 1;
};
// Reads LOCAL_RANK and LOCAL_WORLD_SIZE, or the names of Open MPI, other MPIs and srun, if the environment says it is this
// rank's; otherwise all ranks are assumed to be here. `variable` returns null for one that is not set.
LocalSlot local_slot(int rank, int size, const std::function<const char*(const char*)>& variable);

struct DevicePlace {
  int device = 0;
  bool shared = false;  // with other ranks, as there are fewer devices than ranks
};
DevicePlace place_on(int local_rank, int ranks_here, int devices);

// The variables that a process with a shared device must set before it uses NCCL: ranks that NCCL takes for different hosts may
// share a device, and reach each other through sockets. Variables already set are kept.
//
//   source   NCCL 2.28.9, utils.cc (getHostHash); not yet tried by us
std::vector<std::pair<std::string, std::string>> shared_device_environment(int rank);

}  // namespace pdsim
