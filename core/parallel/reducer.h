// Reducer: counts gradients as backward makes them ready, and launches bucket all_reduces in index order,
// as PyTorch's does.
//
//   launch    a bucket starts when its last gradient is ready and every earlier bucket has started; one late parameter
//             therefore holds back its bucket and all behind it
//   finalize  at the end of the backward in which the last bucket started: waits in index order, gives gradients back
//   owner     shared, because the parameters' hooks outlive it (they hold it weakly)
//   source    torch/csrc/distributed/c10d/reducer.cpp
#pragma once

#include "core/group/process_group.h"
#include "core/nn/autograd.h"
#include "core/parallel/agreement.h"
#include "core/parallel/ddp_logging.h"
#include "core/parallel/gradient_bucket.h"
#include "core/parallel/hooks/comm_hook.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdsim {

class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  static std::shared_ptr<Reducer> make(std::vector<nn::Tensor> parameters, const BucketLayout& layout,
                                       ProcessGroup& group, const DdpOptions& options);

  // The parts of a forward, in this order; begin_iteration and arm only when it will be synchronised.
  void begin_iteration();
  StepTimes& times() { return times_; }
  BucketLayout layout() const;
  const std::vector<std::size_t>& last_ready_order() const { return last_ready_order_; }
  Status rebuild_if_due();             // reduction_not_finished; two broadcasts when rebuilding
  void arm(const nn::Tensor& output);  // parameters that `output` cannot reach are unused (find_unused_parameters)

  Status backward(std::span<const nn::Tensor> losses);
  // The same in a pass shared with others: before it, and after it.
  void begin_backward(nn::BackwardPass& pass);
  void end_backward(const Status& status);

  // Null: DDP's own all_reduce.
  void set_hook(std::unique_ptr<CommHook> hook) { hook_ = std::move(hook); }
  // For the next backward: gradients are divided by the value of `ranks_left` once it is available, not by the group's
  // size.
  void divide_by(Agreement<float> ranks_left) { ranks_left_ = std::move(ranks_left); }
  // For a rank that has joined: reduces what a backward of the others reduces, with zeros.
  Status shadow_backward();

  std::vector<std::int64_t> bucket_bytes() const;
  std::size_t buckets_reduced() const { return next_bucket_; }  // in the last synchronised iteration
  std::size_t bucket_count() const { return buckets_.size(); }
  bool has_rebuilt() const { return rebuilt_; }
  bool finished() const { return !unfinished_; }
  bool has_local_gradients() const { return local_; }  // accumulated by backwards and not reduced since
  std::int64_t iterations() const { return iterations_; }
  std::int64_t unused_bytes() const { return unused_bytes_; }
  const std::vector<nn::Tensor>& parameters() const { return parameters_; }

 private:
  Reducer(std::vector<nn::Tensor> parameters, ProcessGroup& group, const DdpOptions& options);
  bool finds_unused() const { return options_.find_unused_parameters && !options_.static_graph; }
  bool first_static_iteration() const { return options_.static_graph && iterations_ == 1; }
  bool rebuilds() const { return !rebuilt_ && will_rebuild(options_); }

  void set_layout(const BucketLayout& layout);
  Status agree_on_layout(BucketLayout& layout);
  Status prior_reduction_finished() const;

  Status gradient_ready(std::size_t index);
  Status mark_unused();
  Status mark_ready(std::size_t index);
  Status launch_ready_buckets();
  Status launch(GradientBucket& bucket, std::size_t index);
  Status launch_used_map(std::vector<std::int32_t> used);
  Result<int> divisor();
  Status reduce_after_backward();
  Status finalize();
  Result<bool> globally_unused(std::size_t index);
  std::vector<std::size_t> missing_of(const GradientBucket& bucket) const;
  void note_unfilled() const;

  std::vector<nn::Tensor> parameters_;
  ProcessGroup& group_;
  DdpOptions options_;

  std::unique_ptr<CommHook> hook_;
  StepTimes times_;

  struct Place {
    std::size_t bucket = 0, slot = 0;
  };
  std::vector<GradientBucket> buckets_;
  std::vector<Place> places_;  // by parameter
  bool rebuilt_ = false;
  std::vector<std::size_t> ready_order_;  // of the first synchronised backward, until the rebuild

  nn::BackwardPass* pass_ = nullptr;  // the running backward
  std::int64_t iterations_ = 0;       // synchronised forwards with gradients
  bool armed_ = false;                // the last such forward waits for its backward
  bool unfinished_ = false;           // a gradient became ready and finalize has not run since
  bool warned_ = false;               // already warned that no parameter was unused
  bool local_ = false;                // a backward that was not synchronised accumulated, and none has reduced since
  Agreement<float> ranks_left_;       // join: how many have inputs, in flight; else without work
  bool unused_marked_ = false;
  std::size_t next_bucket_ = 0;
  std::vector<bool> ready_;                    // by parameter
  std::vector<std::size_t> last_ready_order_;  // of the last synchronised backward
  std::vector<std::size_t> unused_;
  std::int64_t unused_bytes_ = 0;

  std::vector<std::int32_t> used_;                           // by parameter: this rank's, or everyone's once reduced
  std::shared_ptr<std::vector<std::int32_t>> reduced_used_;  // in flight, or done
  WorkPtr used_work_;
  bool used_reduced_ = false;
  std::vector<int> fired_;      // static graph: hooks per parameter in iteration 1
  std::vector<int> remaining_;  // and how many are still to come in this one
};

}  // namespace pdsim
