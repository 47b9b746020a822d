// Communication hooks: replacements for DDP's own all_reduce of a bucket's gradients (docs/ddp.md).
//
//   input   a full bucket as this rank filled it: DDP does not divide where a hook is registered
//   start   starts the first operation and does not block; the future runs the rest, in the order of the buckets, and leaves
//           the result for every rank in the bucket. (PyTorch runs the rest when the first operation is done, so with several
//           buckets in flight later operations of PowerSGD may interleave differently there.)
//   calls   "bucket k"; powersgd also "bucket k P" and "bucket k Q"
//   source  torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, powerSGD_hook.py
#pragma once

#include "core/group/process_group.h"
#include "core/nn/tensor.h"
#include "core/semantics/ddp_options.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace pdsim {

struct HookBucket {
  nn::Tensor flat;
  std::vector<nn::Tensor> gradients;  // views of flat, in their parameters' shapes
  std::size_t index = 0;
  bool last = false;  // of the iteration
};

using HookFuture = std::function<Status()>;

class CommHook {
 public:
  virtual ~CommHook() = default;
  // `call` names the operations for the recorder.
  virtual Result<HookFuture> start(const HookBucket& bucket, CallOptions call) = 0;
  // Returns null for Kind::none. Errors: invalid_argument for a state of powersgd that PyTorch refuses.
  static Result<std::unique_ptr<CommHook>> make(const CommHookSpec& spec, ProcessGroup& group);
};

std::unique_ptr<CommHook> make_powersgd(const CommHookSpec& spec, ProcessGroup& group);
// Divides the data by the group's size, then sums; the future only waits.
Result<HookFuture> average(ProcessGroup& group, nn::Tensor data, CallOptions call);

}  // namespace pdsim
