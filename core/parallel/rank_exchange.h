// The exchanges of layers over a process group: SyncBatchNorm runs an all_gather "batch statistics" in forward and an all_reduce
// "batch gradients" in backward. Both block until every rank of the group has joined them.
#pragma once

#include "core/group/process_group.h"
#include "core/nn/module.h"

namespace pdsim {

// The group must outlive the module that uses the exchange.
nn::RankExchange exchange_over(ProcessGroup& group);
// Runs all_reduce "layer NAME" for split layers, in forward or backward.
nn::RankExchange tensor_exchange_over(ProcessGroup& group);

}  // namespace pdsim
