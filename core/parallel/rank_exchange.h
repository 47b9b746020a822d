// What layers exchange over a process group: SyncBatchNorm makes an all_gather "batch statistics" in forward and an all_reduce "batch gradients"
// in backward. Both block until every rank of the group has made them.
#pragma once

#include "core/group/process_group.h"
#include "core/nn/module.h"

namespace pdsim {

// The group must outlive the module it is given to.
nn::RankExchange exchange_over(ProcessGroup& group);
// all_reduce "layer NAME" of split layers, in forward or backward.
nn::RankExchange tensor_exchange_over(ProcessGroup& group);

}  // namespace pdsim
