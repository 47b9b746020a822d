// The reducer's second layout: buckets in the order in which gradients really became ready, as rank 0 saw it.
#include "core/parallel/coalesced.h"
#include "core/parallel/reducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace pdsim {
namespace {

using Words = std::vector<std::int32_t>;

Status broadcast_words(ProcessGroup& group, const std::shared_ptr<Words>& words, PurposeKind purpose) {
  CallOptions call;
  call.purpose = purpose;
  return wait(keeping(words, group.broadcast(view_of(*words), 0, std::move(call))));
}

Error no_layout(std::string_view what) {
  return {
      Code::collective_mismatch,
      fmt::format("the {} that rank 0 broadcast is not an arrangement of this rank's parameters; another collective "
                  "of a peer may have been taken for it",
                  what),
      {}};
}

bool is_permutation_of_all(Words order, std::size_t count) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < count; ++i)
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

}  // namespace

Status Reducer::rebuild_if_due() {
  PDSIM_TRY(prior_reduction_finished());
  if (!rebuilds() || ready_order_.empty()) return {};
  if (ready_order_.size() != parameters_.size())
    return Error{
        Code::marked_ready_twice,
        fmt::format("the first synchronised backward made {} gradients ready, and the module has {} parameters; "
                    "run one forward and one backward before the next forward",
                    ready_order_.size(), parameters_.size()),
        {{"ready", std::to_string(ready_order_.size())}, {"parameters", std::to_string(parameters_.size())}}};
  BucketLayout layout = rebuilt_layout(sizes_of(parameters_), ready_order_, options_);
  PDSIM_TRY(agree_on_layout(layout));
  rebuilt_ = true;
  ready_order_.clear();
  set_layout(layout);
  return {};
}

// Rank 0's layout wins: its order and number of buckets, then their sizes.
Status Reducer::agree_on_layout(BucketLayout& layout) {
  const auto order = std::make_shared<Words>();
  const auto sizes = std::make_shared<Words>();
  for (const auto& bucket : layout) {
    for (const std::size_t i : bucket) order->push_back(static_cast<std::int32_t>(i));
    sizes->push_back(static_cast<std::int32_t>(bucket.size()));
  }
  order->push_back(static_cast<std::int32_t>(layout.size()));
  PDSIM_TRY(broadcast_words(group_, order, PurposeKind::rebuild_order));
  const std::int32_t count = order->back();
  order->pop_back();
  if (!is_permutation_of_all(*order, parameters_.size()) || count < 1 ||
      static_cast<std::size_t>(count) > parameters_.size())
    return no_layout("rebuilt order");
  sizes->resize(static_cast<std::size_t>(count));
  PDSIM_TRY(broadcast_words(group_, sizes, PurposeKind::rebuild_sizes));

  layout.clear();
  auto next = order->begin();
  for (const std::int32_t size : *sizes) {
    if (size < 1 || size > order->end() - next) return no_layout("list of rebuilt bucket sizes");
    layout.emplace_back(next, next + size);
    const DType dtype = parameters_[layout.back().front()].dtype();
    if (std::any_of(layout.back().begin(), layout.back().end(),
                    [&](std::size_t i) { return parameters_[i].dtype() != dtype; }))
      return no_layout("list of rebuilt bucket sizes");
    next += size;
  }
  return next == order->end() ? Status{} : no_layout("list of rebuilt bucket sizes");
}

}  // namespace pdsim
