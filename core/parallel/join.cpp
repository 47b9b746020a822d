// join(): ranks that have run out of inputs take part in the collectives of those that have not.
//
//   source  torch/distributed/algorithms/join.py; _DDPJoinHook in torch/nn/parallel/distributed.py
#include "core/parallel/agreement.h"
#include "core/parallel/ddp.h"
#include "core/parallel/reducer.h"

#include <fmt/format.h>

namespace pdsim {
namespace {

constexpr int much_skew = 1000;  // iterations shadowed without a warning

}  // namespace

void DistributedDataParallel::enter_join(const JoinContext& options) { join_ = options; }

Status DistributedDataParallel::tell_that_inputs_are_left() {
  Result<Agreement<float>> ranks = start_agreement(group_, 1.0F, ReduceOp::sum, PurposeKind::active_ranks);
  if (!ranks.ok()) return ranks.error();
  if (join_->throw_on_early_termination) {
    const Result<float> ended = agree(group_, 0.0F, ReduceOp::sum, PurposeKind::early_termination);
    if (!ended.ok()) return ended.error();
    if (*ended > 0.0F)
      return Error{Code::inputs_exhausted,
                   fmt::format("{} of {} ranks ran out of inputs before this one, and join was entered with "
                               "throw_on_early_termination, so every rank raises",
                               *ended, group_.size()),
                   {{"ended", fmt::format("{}", *ended)}}};
  }
  if (!join_->divide_by_initial_world_size) reducer_->divide_by(std::move(ranks).value());
  return {};
}

Status DistributedDataParallel::tell_whether_backward_syncs() {
  return start_agreement(group_, require_backward_grad_sync_ ? 1.0F : 0.0F, ReduceOp::sum, PurposeKind::backward_sync)
      .status();
}

Status DistributedDataParallel::leave_join() {
  PDSIM_CHECK(join_.has_value(), "who leaves join has entered it");
  bool last = true;
  for (int shadowed = 0;; ++shadowed) {
    const Result<float> left = agree(group_, 0.0F, ReduceOp::sum, PurposeKind::active_ranks);
    if (!left.ok()) return left.error();
    if (*left == 0.0F) break;
    if (join_->throw_on_early_termination) {
      const Result<float> told = agree(group_, 1.0F, ReduceOp::sum, PurposeKind::early_termination);
      if (!told.ok()) return told.error();
      return Error{Code::inputs_exhausted,
                   fmt::format("rank {} ran out of inputs while {} of {} ranks have some left, and join was entered "
                               "with throw_on_early_termination",
                               group_.global_rank(group_.rank()), *left, group_.size()),
                   {{"rank", std::to_string(group_.global_rank(group_.rank()))}}};
    }
    if (shadowed == much_skew) group_.recorder().note(notes::Warning{notes::WarningKind::fewer_inputs, much_skew});
    PDSIM_TRY(shadow_iteration());
    last = false;
  }
  const Result<Rank> root = highest_rank(group_, last, PurposeKind::last_rank);
  return root.ok() ? share_state_of(*root) : root.status();
}

Status DistributedDataParallel::shadow_iteration() {
  PDSIM_TRY(reducer_->rebuild_if_due());
  if (buffers_due()) PDSIM_TRY(broadcast_buffers(false));
  const Result<float> syncing = agree(group_, 0.0F, ReduceOp::sum, PurposeKind::backward_sync);
  if (!syncing.ok()) return syncing.error();
  require_forward_param_sync_ = *syncing != 0.0F;
  return require_forward_param_sync_ ? reducer_->shadow_backward() : Status{};
}

Result<int> Reducer::divisor() {
  if (hook_ != nullptr) return 1;  // which divides as it likes
  if (ranks_left_.work == nullptr) return group_.size();
  PDSIM_TRY(ranks_left_.work->wait());
  return static_cast<int>(*ranks_left_.value);
}

// static_graph's first iteration also reduces the used map, and before the buckets; PyTorch does not shadow that.
Status Reducer::shadow_backward() {
  std::vector<GradientBucket> zeros;
  for (const GradientBucket& bucket : buckets_) {
    zeros.push_back(make_bucket(bucket.parameters, parameters_));
    PDSIM_TRY(launch(zeros.back(), zeros.size() - 1));
  }
  for (const GradientBucket& bucket : zeros) PDSIM_TRY(bucket.finish());
  if (options_.find_unused_parameters) {
    PDSIM_TRY(launch_used_map(std::vector<std::int32_t>(parameters_.size())));
    PDSIM_TRY(used_work_->wait());
  }
  if (rebuilds() && ready_order_.empty())
    for (std::size_t i = 0; i < parameters_.size(); ++i) ready_order_.push_back(i);
  return {};
}

}  // namespace pdsim
