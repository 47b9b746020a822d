// Whether NCCL works on this machine, from facts that can be had without a GPU; and where a rank's device is.
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
  int driver_version = 0;      // the newest runtime that the driver serves; 0 without a driver
  int devices = 0;             // 0: none, or not to be had
  std::string device_error;    // what the runtime said when it was asked for them
  int ranks_here = 0;          // on this machine; 0: not known yet
  bool host_id_given = false;  // NCCL_HOSTID is in the environment already
};

// "2.28.9" of 22809, "2.7.8" of 2708.
std::string nccl_version_text(int version);
// "13.0" of 13000.
std::string cuda_version_text(int version);

// The first reason why it does not work, with the cure; empty: none is known.
std::string nccl_problem(const NcclFacts& facts);

// Asks the library and the runtime. `ranks_here` as above.
NcclFacts nccl_facts(const NcclLibrary& library, int ranks_here);

// Where a rank is on its machine, and how many are there.
struct LocalSlot {
  int rank = 0;
  int ranks = 1;
};
// From LOCAL_RANK and LOCAL_WORLD_SIZE, or the names of Open MPI, other MPIs and srun, of an environment that says it is this rank's; otherwise all
// ranks are taken to be here. `variable` gives null for one that is not set.
LocalSlot local_slot(int rank, int size, const std::function<const char*(const char*)>& variable);

struct DevicePlace {
  int device = 0;
  bool shared = false;  // with other ranks, for there are fewer devices than ranks
};
DevicePlace place_on(int local_rank, int ranks_here, int devices);

// What a process that shares its device must set before it uses NCCL: ranks with different hosts in NCCL's eyes may have the same
// device, and reach each other through sockets. What the environment has already stays.
//
//   source   NCCL 2.28.9, utils.cc (getHostHash); not yet tried by us
std::vector<std::pair<std::string, std::string>> shared_device_environment(int rank);

}  // namespace pdsim
