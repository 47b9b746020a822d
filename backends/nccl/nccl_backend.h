// NCCL as a Backend: one process per rank, with one device each where there are enough.
//
//   memory    callers' buffers are in the CPU's memory; the backend copies them to the device and back, through pinned memory, on
//             the stream of the communicator
//   device    LOCAL_RANK (or an MPI's, or srun's), else the rank, modulo the number of devices. Where ranks outnumber devices,
//             each process gets an environment of its own before it uses NCCL, which lets them share one (probe.h)
//   join      the group's first rank creates NCCL's unique ids and puts them into the store; all wait there for each other, and
//             then create nonblocking communicators. `store` must outlive the communicator. Errors: store_timeout, timeout, and
//             NCCL's
//   start     `auto` and `native` take NCCL's own collective where it has one, any other name is a plan over ncclSend and
//             ncclRecv. Plans of one group run one after the other, as NCCL has no tags; messages of each direction between two
//             ranks are matched in their order, whatever their tags
//   timeout   NCCL has none: the backend's own, which aborts all communicators of the group; later calls are group_unusable
//   abort     likewise. The other ranks learn of neither, unless NCCL's network notices (peer_closed)
//   sizes     ranks that disagree about a size, dtype or order hang or get wrong data; NCCL does not check
//   errors    codes become errors in one file
//   source    NCCL 2.28, CUDA 13. It has not run on a GPU yet, only over the tests' double of both libraries
#pragma once

#include "backends/availability.h"
#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <memory>

namespace pdsim {

struct NcclLibrary;

// Loads NCCL and queries the driver and devices. The reason is the first missing thing.
Availability probe_nccl();

// `runtime` outlives the backend. Errors: unavailable, with probe_nccl's reason.
Result<std::unique_ptr<Backend>> make_nccl_backend(Runtime& runtime);

// The same with functions that are loaded already.
Result<std::unique_ptr<Backend>> make_nccl_backend(Runtime& runtime, const NcclLibrary& library);

}  // namespace pdsim
