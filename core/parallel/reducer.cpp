#include "core/parallel/reducer.h"

#include "core/parallel/coalesced.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace pdsim {

Reducer::Reducer(std::vector<nn::Tensor> parameters, ProcessGroup& group, const DdpOptions& options)
    : parameters_(std::move(parameters)),
      group_(group),
      options_(options),
      ready_(parameters_.size()),
      used_(parameters_.size()),
      fired_(parameters_.size()) {}

std::shared_ptr<Reducer> Reducer::make(std::vector<nn::Tensor> parameters, const BucketLayout& layout,
                                       ProcessGroup& group, const DdpOptions& options) {
  std::shared_ptr<Reducer> reducer(new Reducer(std::move(parameters), group, options));
  reducer->set_layout(layout);
  for (std::size_t i = 0; i < reducer->parameters_.size(); ++i) {
    const std::weak_ptr<Reducer> weak = reducer;
    nn::register_post_accumulate_hook(reducer->parameters_[i], [weak, i](nn::Tensor&) -> Status {
      const auto alive = weak.lock();
      return alive != nullptr ? alive->gradient_ready(i) : Status{};
    });
  }
  return reducer;
}

void Reducer::set_layout(const BucketLayout& layout) {
  buckets_.clear();
  places_.assign(parameters_.size(), {});
  for (std::size_t b = 0; b < layout.size(); ++b) {
    buckets_.push_back(make_bucket(layout[b], parameters_));
    for (std::size_t slot = 0; slot < layout[b].size(); ++slot) {
      places_[layout[b][slot]] = {b, slot};
      if (options_.gradient_as_bucket_view) adopt_gradient(parameters_[layout[b][slot]], buckets_[b].views[slot]);
    }
    group_.recorder().note(notes::BucketLayout{rebuilt_ ? notes::LayoutPhase::rebuilt : notes::LayoutPhase::initial,
                                               static_cast<std::int64_t>(b), buckets_[b].flat.view().bytes(),
                                               name_list(layout[b], parameters_)});
  }
}

BucketLayout Reducer::layout() const {
  BucketLayout layout;
  for (const GradientBucket& bucket : buckets_) layout.push_back(bucket.parameters);
  return layout;
}

std::vector<std::int64_t> Reducer::bucket_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const GradientBucket& bucket : buckets_) bytes.push_back(bucket.flat.view().bytes());
  return bytes;
}

// PyTorch's logger looks here, at the start of a forward, at what the iteration before left unused, and samples.
void Reducer::begin_iteration() {
  if (iterations_ > 0 && (iterations_ <= 10 || iterations_ % 100 == 0)) {
    const bool from_zero = unused_.empty() || !options_.profile.unused_size_accumulates;
    if (options_.find_unused_parameters && from_zero) unused_bytes_ = 0;
    for (const std::size_t i : unused_) unused_bytes_ += parameters_[i].view().bytes();
  }
  ++iterations_;
}

void Reducer::arm(const nn::Tensor& output) {
  armed_ = true;
  next_bucket_ = 0;
  for (GradientBucket& bucket : buckets_) {
    bucket.pending = bucket.parameters.size();
    bucket.finish = nullptr;
  }
  unused_marked_ = false;
  ready_.assign(parameters_.size(), false);
  last_ready_order_.clear();
  remaining_ = fired_;
  if (!finds_unused()) return;
  unused_.clear();
  const std::vector<nn::Tensor> used = nn::reachable_leaves(std::span(&output, 1));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const nn::Tensor& parameter = parameters_[i];
    const auto is_it = [&parameter](const nn::Tensor& leaf) { return leaf.same_storage(parameter); };
    if (std::none_of(used.begin(), used.end(), is_it)) unused_.push_back(i);
  }
  if (unused_.empty() && options_.find_unused_parameters && !std::exchange(warned_, true))
    group_.recorder().note(notes::Warning{notes::WarningKind::unused_search_in_vain, 0});
}

Status Reducer::backward(std::span<const nn::Tensor> losses) {
  nn::BackwardPass pass;
  begin_backward(pass);
  const Status status = pass.run(losses);
  end_backward(status);
  return status;
}

void Reducer::begin_backward(nn::BackwardPass& pass) {
  pass_ = &pass;
  if (armed_ && first_static_iteration()) pass.queue_callback([this] { return reduce_after_backward(); });
}

void Reducer::end_backward(const Status& status) {
  pass_ = nullptr;
  if (status.ok() && armed_) note_unfilled();
}

// The hook of one parameter, in backward, after its gradient was accumulated.
Status Reducer::gradient_ready(std::size_t index) {
  const bool maps_used = finds_unused() || first_static_iteration();
  const bool defined = parameters_[index].grad().defined();
  if (maps_used && defined && options_.profile.used_map_kept_under_no_sync) used_[index] = 1;
  if (!armed_) {
    local_ = true;
    return {};
  }
  if (maps_used && defined) used_[index] = 1;
  times_.backward_began(group_.recorder().now());
  if (first_static_iteration()) {
    ++fired_[index];
    return {};
  }
  PDSIM_TRY(mark_unused());
  if (options_.static_graph) {
    if (remaining_[index] == 0) {
      const std::string& name = parameters_[index].name();
      return Error{Code::static_graph_changed,
                   fmt::format("the gradient of {} became ready more than the {} times of the first iteration; with "
                               "static_graph every iteration must use the same parameters the same number of times",
                               name, fired_[index]),
                   {{"parameter", name}, {"index", std::to_string(index)}}};
    }
    if (--remaining_[index] > 0) return {};
  }
  if (rebuilds()) ready_order_.push_back(index);
  return mark_ready(index);
}

Status Reducer::mark_unused() {
  if (std::exchange(unused_marked_, true)) return {};
  for (const std::size_t i : unused_) PDSIM_TRY(mark_ready(i));
  return {};
}

Status Reducer::mark_ready(std::size_t index) {
  if (ready_[index]) {
    const std::string& name = parameters_[index].name();
    return Error{Code::marked_ready_twice,
                 fmt::format("the gradient of {} (index {}) became ready twice in one iteration: it is used outside "
                             "forward, by several backward calls, or where unused parameters were looked for and "
                             "not seen; use each parameter in one forward and one backward",
                             name, index),
                 {{"parameter", name}, {"index", std::to_string(index)}}};
  }
  ready_[index] = true;
  last_ready_order_.push_back(index);
  unfinished_ = true;
  GradientBucket& bucket = buckets_[places_[index].bucket];
  const Result<int> ranks = divisor();
  if (!ranks.ok()) return ranks.error();
  take_gradient(parameters_[index], bucket.views[places_[index].slot], *ranks, options_.gradient_as_bucket_view);
  if (--bucket.pending == 0) PDSIM_TRY(launch_ready_buckets());
  if (next_bucket_ < buckets_.size()) return {};
  if (finds_unused()) PDSIM_TRY(launch_used_map(used_));
  if (pass_ == nullptr)
    return Error{
        Code::autograd_misuse, "the loss of a wrapped module ran backward without DDP; call DDP's backward", {}};
  pass_->queue_callback([this] {
    if (options_.static_graph && rebuilds()) ready_order_.insert(ready_order_.end(), unused_.begin(), unused_.end());
    return finalize();
  });
  return {};
}

Status Reducer::launch_ready_buckets() {
  for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].pending == 0; ++next_bucket_)
    PDSIM_TRY(launch(buckets_[next_bucket_], next_bucket_));
  return {};
}

Status Reducer::launch(GradientBucket& bucket, std::size_t index) {
  const auto number = static_cast<std::int64_t>(index);
  group_.recorder().note(notes::BucketLaunched{number});
  CallOptions call;
  call.purpose = {PurposeKind::bucket, number};
  call.async = true;
  call.parameters = name_list(bucket.parameters, parameters_);
  times_.communication_began(group_.recorder().now());
  if (hook_ != nullptr) {
    Result<HookFuture> future =
        hook_->start({bucket.flat, bucket.views, index, index + 1 == buckets_.size()}, std::move(call));
    if (!future.ok()) return future.error();
    bucket.finish = std::move(future).value();
    return {};
  }
  const auto work = keeping(bucket.flat, group_.all_reduce(bucket.flat.mutable_view(), ReduceOp::sum, std::move(call)));
  if (!work.ok()) return work.error();
  bucket.finish = [started = *work] { return started->wait(); };
  return {};
}

Status Reducer::launch_used_map(std::vector<std::int32_t> used) {
  reduced_used_ = std::make_shared<std::vector<std::int32_t>>(std::move(used));
  CallOptions call;
  call.purpose = PurposeKind::used_map;
  call.async = true;
  const auto work = keeping(reduced_used_, group_.all_reduce(view_of(*reduced_used_), ReduceOp::sum, std::move(call)));
  if (!work.ok()) return work.error();
  used_work_ = *work;
  return {};
}

// static_graph, first iteration: hooks only counted; here, after the whole backward, everything is reduced at once.
Status Reducer::reduce_after_backward() {
  PDSIM_TRY(launch_used_map(used_));
  const Result<int> ranks = divisor();
  if (!ranks.ok()) return ranks.error();
  unused_.clear();
  unfinished_ = true;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (fired_[i] == 0) unused_.push_back(i);
    const Place place = places_[i];
    take_gradient(parameters_[i], buckets_[place.bucket].views[place.slot], *ranks, options_.gradient_as_bucket_view);
  }
  for (; next_bucket_ < buckets_.size(); ++next_bucket_) PDSIM_TRY(launch(buckets_[next_bucket_], next_bucket_));
  return finalize();
}

Status Reducer::finalize() {
  armed_ = false;
  unfinished_ = false;
  local_ = false;
  ranks_left_ = {};
  times_.backward_ended(group_.recorder().now());
  for (GradientBucket& bucket : buckets_) {
    PDSIM_TRY(bucket.finish());
    times_.communication_ended(group_.recorder().now());
    for (std::size_t slot = 0; slot < bucket.parameters.size(); ++slot) {
      const Result<bool> unused = globally_unused(bucket.parameters[slot]);
      if (!unused.ok()) return unused.error();
      if (!*unused)
        PDSIM_TRY(
            give_gradient(parameters_[bucket.parameters[slot]], bucket.views[slot], options_.gradient_as_bucket_view));
    }
  }
  if ((finds_unused() || first_static_iteration()) && !used_reduced_) PDSIM_TRY(used_work_->wait());
  if (finds_unused()) {
    used_.assign(used_.size(), 0);
    used_reduced_ = false;
  }
  return {};
}

// Everybody's map is waited for only where this rank did not use the parameter.
Result<bool> Reducer::globally_unused(std::size_t index) {
  if (!options_.find_unused_parameters && !options_.static_graph) return false;
  if (used_[index] == 0 && !used_reduced_) {
    PDSIM_TRY(used_work_->wait());
    used_ = *reduced_used_;
    used_reduced_ = true;
  }
  return used_[index] == 0;
}

std::vector<std::size_t> Reducer::missing_of(const GradientBucket& bucket) const {
  std::vector<std::size_t> missing;
  std::copy_if(bucket.parameters.begin(), bucket.parameters.end(), std::back_inserter(missing),
               [this](std::size_t i) { return !ready_[i]; });
  std::sort(missing.begin(), missing.end());  // as registered, not as they became ready
  return missing;
}

void Reducer::note_unfilled() const {
  for (std::size_t b = next_bucket_; b < buckets_.size(); ++b) {
    const GradientBucket& bucket = buckets_[b];
    if (bucket.pending == 0) continue;
    const auto total = static_cast<std::int64_t>(bucket.parameters.size());
    group_.recorder().note(notes::BucketUnfilled{static_cast<std::int64_t>(b),
                                                 total - static_cast<std::int64_t>(bucket.pending), total,
                                                 name_list(missing_of(bucket), parameters_)});
  }
}

Status Reducer::prior_reduction_finished() const {
  if (!unfinished_) return {};
  std::vector<std::size_t> missing;
  std::string indices;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (ready_[i]) continue;
    missing.push_back(i);
    indices += (indices.empty() ? "" : ", ") + std::to_string(i);
  }
  const std::string names = names_of(missing, parameters_);
  const char* advice = options_.static_graph ? "with static_graph every iteration must use the parameters of the first"
                       : options_.find_unused_parameters
                           ? "let every output of forward take part in the loss"
                           : "set find_unused_parameters, or let every parameter take part in the loss of every rank";
  return Error{Code::reduction_not_finished,
               fmt::format("the backward before this forward left bucket {} of {} unreduced: on this rank no gradient "
                           "became ready for {} (index {}); {}",
                           next_bucket_, buckets_.size(), names, indices, advice),
               {{"parameters", names}, {"indices", indices}, {"bucket", std::to_string(next_bucket_)}}};
}

}  // namespace pdsim
