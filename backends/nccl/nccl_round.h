// One round of messages as one group call.
#pragma once

#include "backends/nccl/device/channel.h"

#include <cstdint>
#include <span>

namespace pdsim {

struct NcclWire {
  bool sends;
  Rank peer;
  std::int64_t at;     // in the flight's memory
  std::int64_t bytes;  // an empty message is sent as one byte, which must exist
};

// Enqueues an ncclSend or ncclRecv for each, between ncclGroupStart and ncclGroupEnd.
Status post_round(std::span<const NcclWire> wires, const NcclContext& context);

}  // namespace pdsim
