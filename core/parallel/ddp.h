// DistributedDataParallel: the wrapper of PyTorch, with its collectives in its order (docs/ddp.md).
//
//   constructor  checks, all_gather "parameter count", broadcast "parameter sizes", then broadcasts "parameters" (parameters
//                and buffers together, flattened per dtype); none of these with init_sync off
//   forward      [broadcasts "rebuild order", "rebuild sizes"] [broadcasts "buffers"], the module's forward, arms the
//                reducer when gradients are on and synchronised
//   join         once entered, each forward first all_reduces "active ranks" [and "early termination"], agrees on the
//                "buffer rank" by all_reduce instead of taking rank 0, and all_reduces "backward sync". A rank without
//                inputs shadows all of these and the buckets, with zeros
//   backward     all_reduces "bucket k" strictly in index order, each divided before the sum; then "used map". Blocks
//                until all are done. Returns ok, with local gradients, when some bucket was never filled
//   errors       ddp_not_needed; model_differs; reduction_not_finished (facts parameters, indices, bucket) at the next
//                forward with gradients; marked_ready_twice and static_graph_changed (facts parameter, index);
//                inputs_exhausted (fact rank: the rank without inputs); and the process group's
//   records      notes ddp-options, bucket-layout, bucket-launched, bucket-unfilled, tensor-saved, tensor-written
//                (flight_record.h); yes or no for a bool
//   threads      the rank's own
//
//   auto ddp = DistributedDataParallel::wrap(module, *group, {});
//   if (!ddp.ok()) return ddp.error();
//   for (int step = 0; step < steps; ++step) {
//     optimizer->zero_grad();
//     auto output = (*ddp)->forward(batch(step), "full", {});
//     if (!output.ok()) return output.error();
//     const nn::Tensor loss = nn::mse_loss(*output, target(step));
//     PDSIM_TRY((*ddp)->backward(std::span(&loss, 1)));
//     optimizer->step();
//   }
#pragma once

#include "core/group/process_group.h"
#include "core/nn/module.h"
#include "core/parallel/ddp_logging.h"
#include "core/semantics/ddp_options.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim {

struct JoinContext {
  bool divide_by_initial_world_size = true;  // false: by the number of ranks that still have inputs
  bool throw_on_early_termination = false;   // every rank raises once one has no more inputs
};

class Reducer;

class DistributedDataParallel {
 public:
  // Runs the constructor's collectives; blocks. The module and the group must outlive it. invalid_argument for a
  // communication hook that PyTorch refuses.
  static Result<std::unique_ptr<DistributedDataParallel>> wrap(nn::Module& module, ProcessGroup& group,
                                                               const DdpOptions& options);
  ~DistributedDataParallel();

  // Reports the module's saves and writes to `watch`; without one, to the recorder as notes. Buffer broadcasts always
  // become notes.
  Result<nn::Tensor> forward(const nn::Tensor& input, std::string_view path, nn::ForwardMode mode,
                             const nn::TensorWatcher& watch = {});
  // Runs backward from scalar losses (each with gradient one), with the reducer's part.
  Status backward(std::span<const nn::Tensor> losses);
  // Runs one backward of losses of several wrapped modules: each reduces the buckets that its own forward armed.
  static Status backward(std::span<const nn::Tensor> losses, std::span<DistributedDataParallel* const> wrapped);
  // While off (no_sync), forwards do not arm the reducer and gradients accumulate locally. Read in forward only.
  void set_require_backward_grad_sync(bool on);
  bool require_backward_grad_sync() const { return require_backward_grad_sync_; }
  // join(), for ranks with different numbers of inputs: enter before the loop, leave after it. PyTorch never undoes
  // enter, so forwards after the context still send "active ranks"; so do these.
  void enter_join(const JoinContext& options);
  // This rank has no more inputs: shadows the others until they have none either; then every rank gets the parameters
  // and buffers of the rank that left last (of several, the highest).
  Status leave_join();
  // False where a backward accumulated gradients that no other rank has: inside no_sync, or in buckets it left
  // unreduced.
  bool gradients_synchronised() const;
  nn::Module& module() { return module_; }
  DdpLogging logging() const;

 private:
  DistributedDataParallel(nn::Module& module, ProcessGroup& group, const DdpOptions& options);
  Status share_state_of(Rank root);
  void build_reducer(std::vector<nn::Tensor> parameters);
  bool buffers_due() const;
  Status broadcast_buffers(bool has_inputs);
  Status tell_that_inputs_are_left();
  Status tell_whether_backward_syncs();
  Status shadow_iteration();
  nn::Module& module_;
  ProcessGroup& group_;
  DdpOptions options_;
  std::shared_ptr<Reducer> reducer_;
  std::vector<std::int64_t> initial_bucket_bytes_;
  bool require_backward_grad_sync_ = true;
  bool require_forward_param_sync_ = true;
  std::optional<JoinContext> join_;
};

}  // namespace pdsim
