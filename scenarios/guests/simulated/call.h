// A guest's collective or message as core's call, over memory of this side.
#pragma once

#include "backends/os/shared_memory.h"
#include "core/collectives/collective.h"
#include "scenarios/guests/request.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace pdsim::scenarios::guests {

// Where a call's data lie until its guest has the result: here, or in memory that both sides have mapped.
struct CallMemory {
  std::vector<std::byte> input;  // empty where the call works in place, on the output
  std::vector<std::byte> output;
  std::shared_ptr<SharedMemory> shared;  // then both are empty
};

struct GuestCall {
  Collective call;    // on the memory below, which must not move any more
  CallMemory memory;
};

// For group rank `rank` of `size`; the data are in `shared` where it is not null, else in the request.
// invalid_argument: the data are not what the kind and count of the request say.
Result<GuestCall> call_of(Request& request, Rank rank, int size, std::shared_ptr<SharedMemory> shared = nullptr);

}  // namespace pdsim::scenarios::guests
