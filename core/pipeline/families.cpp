#include "core/pipeline/families.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {
namespace {

using Kind = PipelineActionKind;
using Order = std::vector<PipelineAction>;

Order gpipe_order(const PipelineShape& shape, Rank rank) {
  Order order;
  for (const Kind kind : {Kind::forward, Kind::backward})
    for (int j = 0; j < shape.microbatches; ++j) order.push_back({kind, rank, j});
  return order;
}

// `ahead` forwards, then forward and backward in turn, then the backwards that are left; `after` is called after each backward.
template <class After>
Order alternating(const PipelineShape& shape, Rank rank, int ahead, Kind backward, After after) {
  Order order;
  const int m = shape.microbatches;
  int forwards = 0;
  for (; forwards < std::min(ahead, m); ++forwards) order.push_back({Kind::forward, rank, forwards});
  for (int backwards = 0; backwards < m; ++backwards) {
    if (forwards < m) order.push_back({Kind::forward, rank, forwards++});
    order.push_back({backward, rank, backwards});
    after(order, backwards + 1);
  }
  return order;
}

Order one_forward_one_backward(const PipelineShape& shape, Rank rank) {
  return alternating(shape, rank, shape.ranks - rank - 1, Kind::backward, [](Order&, int) {});
}

Order zero_bubble(const PipelineShape& shape, Rank rank, int ahead, int kept_back) {
  int weights = 0;
  Order order = alternating(shape, rank, ahead, Kind::input_backward, [&](Order& so_far, int backwards) {
    if (backwards - weights > kept_back) so_far.push_back({Kind::weight_backward, rank, weights++});
  });
  while (weights < shape.microbatches) order.push_back({Kind::weight_backward, rank, weights++});
  return order;
}

Order zb_h1_order(const PipelineShape& shape, Rank rank) {
  return zero_bubble(shape, rank, shape.ranks - rank - 1, rank);
}

Order zb_h2_order(const PipelineShape& shape, Rank rank) {
  return zero_bubble(shape, rank, 2 * (shape.ranks - rank - 1), 2 * rank);
}

// The k-th forward of a rank is that of a stage and a micro-batch: p of one stage, then p of its next one, round after round.
Order interleaved_order(const PipelineShape& shape, Rank rank) {
  const int p = shape.ranks, v = shape.stages_per_rank, all = shape.microbatches * v;
  if (v == 1) return one_forward_one_backward(shape, rank);
  const auto action = [&](Kind kind, int k) {
    const int nth = k % (p * v) / p;
    const int own = kind == Kind::forward ? nth : v - 1 - nth;
    return PipelineAction{kind, own * p + rank, k / (p * v) * p + k % p};
  };
  const int ahead = std::min(all, (v - 1) * p + 2 * (p - rank - 1));
  Order order;
  for (int k = 0; k < ahead; ++k) order.push_back(action(Kind::forward, k));
  for (int k = 0; k < all; ++k) {
    if (ahead + k < all) order.push_back(action(Kind::forward, ahead + k));
    order.push_back(action(Kind::backward, k));
  }
  return order;
}

constexpr std::array families{
    PipelineFamily{pipeline_family_names[0], "all forwards, then all backwards", false, false, gpipe_order},
    PipelineFamily{pipeline_family_names[1], "one forward, one backward", false, false, one_forward_one_backward},
    PipelineFamily{pipeline_family_names[2], "one forward, one backward, several stages a rank", true, true,
                   interleaved_order},
    PipelineFamily{pipeline_family_names[3], "the backward in two parts, as much memory as 1f1b", false, false,
                   zb_h1_order},
    PipelineFamily{pipeline_family_names[4], "the backward in two parts, up to twice the memory", false, false,
                   zb_h2_order},
};

static_assert(families.size() == pipeline_family_names.size());

}  // namespace

std::span<const PipelineFamily> pipeline_families() { return families; }

const PipelineFamily* pipeline_family_named(std::string_view name) {
  const auto* found =
      std::find_if(families.begin(), families.end(), [&](const PipelineFamily& f) { return f.name == name; });
  return found == families.end() ? nullptr : found;
}

Result<PipelineSchedule> make_pipeline(const PipelineFamily& family, const PipelineShape& shape) {
  const auto wrong = [](std::string message) { return Error{Code::invalid_argument, std::move(message), {}}; };
  if (shape.ranks < 1 || shape.microbatches < 1 || shape.stages_per_rank < 1)
    return wrong("ranks, micro-batches and stages per rank are 1 or more each");
  if (shape.stages_per_rank > 1 && !family.several_stages)
    return wrong(fmt::format("{} has one stage a rank; interleaved_1f1b takes several", family.name));
  if (family.whole_rounds && shape.stages_per_rank > 1 && shape.microbatches % shape.ranks != 0)
    return wrong(fmt::format("{} micro-batches do not make whole rounds of {} ranks: {} takes {} or {} of them",
                             shape.microbatches, shape.ranks, family.name,
                             std::max(1, shape.microbatches / shape.ranks) * shape.ranks,
                             (shape.microbatches / shape.ranks + 1) * shape.ranks));
  const Wide actions = Wide{3} * static_cast<unsigned>(shape.ranks) * static_cast<unsigned>(shape.microbatches) *
                       static_cast<unsigned>(shape.stages_per_rank);
  if (actions > Wide{static_cast<std::uint64_t>(most_pipeline_actions)})
    return wrong(fmt::format("more than {} actions: take fewer ranks or micro-batches", most_pipeline_actions));
  PipelineSchedule schedule;
  schedule.name = family.name;
  schedule.stages = shape.ranks * shape.stages_per_rank;
  schedule.microbatches = shape.microbatches;
  for (Rank r = 0; r < shape.ranks; ++r) schedule.order.push_back(family.order(shape, r));
  return schedule;
}

}  // namespace pdsim
