// A guest's collective or message as core's call, over memory of this side.
#pragma once

#include "core/collectives/collective.h"
#include "scenarios/guests/request.h"

#include <cstddef>
#include <vector>

namespace pdsim::scenarios::guests {

struct GuestCall {
  Collective call;               // on the buffers below, which must not move any more
  std::vector<std::byte> input;  // empty where the call works in place, on the output
  std::vector<std::byte> output;
};

// For group rank `rank` of `size`. invalid_argument: the data of the request are not what its kind and count say.
Result<GuestCall> call_of(Request& request, Rank rank, int size);

}  // namespace pdsim::scenarios::guests
