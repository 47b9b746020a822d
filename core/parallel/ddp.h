// DistributedDataParallel: the wrapper of PyTorch, with its collectives in its order (SEMANTICS section 1).
//
//   constructor  checks, all_gather "parameter count", broadcast "parameter sizes", then broadcasts "parameters" (of
//                parameters and buffers together, flattened per dtype)
//   forward      [broadcasts "rebuild order", "rebuild sizes"] [broadcasts "buffers"], the module's forward, arms the
//                reducer when gradients are on and synchronised
//   backward     all_reduces "bucket k" strictly in index order, each divided before the sum; then "used map". Blocks
//                until all are done. Returns ok, with local gradients, when some bucket was never filled
//   errors       ddp_not_needed; model_differs; reduction_not_finished (facts parameters, indices, bucket) at the next
//                forward with gradients; marked_ready_twice and static_graph_changed (facts parameter, index); and the
//                process group's
//   records      notes ddp-options, bucket-layout, bucket-launched, bucket-unfilled, tensor-saved, tensor-written
//                (flight_record.h); yes or no for what is a bool
//   threads      the rank's own
#pragma once

#include "core/group/process_group.h"
#include "core/nn/module.h"
#include "core/parallel/ddp_options.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim {

struct DdpLogging {  // as torch's _get_ddp_logging_data names them
  std::vector<std::int64_t> bucket_sizes;
  std::vector<std::int64_t> rebuilt_bucket_sizes;
  std::int64_t bucket_cap_bytes = 0;
  bool find_unused_parameters = false;
  bool has_rebuilt_buckets = false;
  std::int64_t num_parameter_tensors = 0;
  std::int64_t total_parameter_size_bytes = 0;
  std::int64_t iteration = 0;
  std::int64_t unused_parameter_size = 0;
};

class Reducer;

class DistributedDataParallel {
 public:
  // Runs the constructor's collectives; blocks. The module and the group must outlive it.
  static Result<std::unique_ptr<DistributedDataParallel>> wrap(nn::Module& module, ProcessGroup& group,
                                                               const DdpOptions& options);
  ~DistributedDataParallel();

  // What the module saves and writes goes to `watch`; without one, to the recorder as notes. Buffer broadcasts always
  // become notes.
  Result<nn::Tensor> forward(const nn::Tensor& input, std::string_view path, nn::ForwardMode mode,
                             const nn::TensorWatcher& watch = {});
  // Backward from scalar losses (each with gradient one), with the reducer's part.
  Status backward(std::span<const nn::Tensor> losses);
  // While off (no_sync), forwards do not arm the reducer and gradients accumulate locally. Read in forward only.
  void set_require_backward_grad_sync(bool on);
  // False after a backward that left buckets unreduced: the gradients are this rank's own.
  bool gradients_synchronised() const;
  nn::Module& module() { return module_; }
  DdpLogging logging() const;

 private:
  DistributedDataParallel(nn::Module& module, ProcessGroup& group, const DdpOptions& options);
  Status share_rank_zero_state();
  void build_reducer(std::vector<nn::Tensor> parameters);
  Status broadcast_buffers();
  nn::Module& module_;
  ProcessGroup& group_;
  DdpOptions options_;
  std::shared_ptr<Reducer> reducer_;
  std::vector<std::int64_t> initial_bucket_bytes_;
  bool require_backward_grad_sync_ = true;
  bool require_forward_param_sync_ = true;
};

}  // namespace pdsim
