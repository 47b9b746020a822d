#include "backends/nccl/nccl_round.h"

#include "backends/nccl/errors.h"

#include <algorithm>

namespace pdsim {

Status post_round(std::span<const NcclWire> wires, const NcclContext& context) {
  const NcclCalls& nccl = context.loaded.nccl;
  PDSIM_TRY(nccl_status(nccl, nccl.group_start(), "ncclGroupStart", context.communicator));
  Status first;
  for (const NcclWire& w : wires) {
    std::byte* data = context.device + w.at;
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(w.bytes, 1));
    const ncclResult_t result = w.sends ? nccl.send(data, bytes, ncclUint8, w.peer, context.communicator, context.stream)
                                        : nccl.receive(data, bytes, ncclUint8, w.peer, context.communicator, context.stream);
    if (first.ok()) first = nccl_status(nccl, result, w.sends ? "ncclSend" : "ncclRecv", context.communicator);
  }
  const Status ended = nccl_status(nccl, nccl.group_end(), "ncclGroupEnd", context.communicator);
  return first.ok() ? ended : first;
}

}  // namespace pdsim
