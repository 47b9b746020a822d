// The collectives of ProcessGroup whose parts differ in size.
#include "core/group/process_group.h"

#include <fmt/format.h>

namespace pdsim {
namespace {

Error invalid_argument(CollectiveKind kind, std::string why) {
  return {Code::invalid_argument, fmt::format("{}: {}", name_of(kind), why), {{"in", std::string(name_of(kind))}}};
}

Result<std::vector<std::int64_t>> offsets_of(CollectiveKind kind, std::span<const std::int64_t> counts, int size) {
  if (counts.size() != static_cast<std::size_t>(size))
    return invalid_argument(kind, fmt::format("{} counts were given, and the group has {} ranks", counts.size(), size));
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t n : counts) {
    if (n < 0)
      return invalid_argument(kind, fmt::format("the count of rank {} is {}, and must be 0 or more", offsets.size() - 1, n));
    offsets.push_back(offsets.back() + n);
  }
  return offsets;
}

}  // namespace

Result<WorkPtr> ProcessGroup::all_gather_v(ConstView input, MutableView output, Counts counts, CallOptions options) {
  Collective call{CollectiveKind::all_gather_v, input, output, input.dtype, input.count};
  auto offsets = offsets_of(call.kind, counts, size());
  if (!offsets.ok()) return offsets.error();
  if (is_member() && input.count != counts[static_cast<std::size_t>(rank_)])
    return invalid_argument(call.kind, fmt::format("input has {} elements, and counts say {} for rank {}", input.count,
                                          counts[static_cast<std::size_t>(rank_)], rank_));
  call.splits = std::make_shared<const Splits>(Splits{{}, std::move(*offsets)});
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::reduce_scatter_v(ConstView input, MutableView output, Counts counts, ReduceOp op,
                                               CallOptions options) {
  Collective call{CollectiveKind::reduce_scatter_v, input, output, output.dtype, output.count};
  auto offsets = offsets_of(call.kind, counts, size());
  if (!offsets.ok()) return offsets.error();
  if (is_member() && output.count != counts[static_cast<std::size_t>(rank_)])
    return invalid_argument(call.kind, fmt::format("output has {} elements, and counts say {} for rank {}", output.count,
                                          counts[static_cast<std::size_t>(rank_)], rank_));
  call.op = op;
  call.splits = std::make_shared<const Splits>(Splits{std::move(*offsets), {}});
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::all_to_all_v(ConstView input, MutableView output, Counts send_counts,
                                           Counts receive_counts, CallOptions options) {
  Collective call{CollectiveKind::all_to_all_v, input, output, input.dtype, input.count};
  auto sends = offsets_of(call.kind, send_counts, size());
  if (!sends.ok()) return sends.error();
  auto receives = offsets_of(call.kind, receive_counts, size());
  if (!receives.ok()) return receives.error();
  if (is_member()) {
    const auto me = static_cast<std::size_t>(rank_);
    if (send_counts[me] != receive_counts[me])
      return invalid_argument(call.kind, fmt::format("rank {} sends {} elements to itself, and expects {} from itself", rank_,
                                            send_counts[me], receive_counts[me]));
  }
  call.splits = std::make_shared<const Splits>(Splits{std::move(*sends), std::move(*receives)});
  return start(std::move(call), std::move(options));
}

}  // namespace pdsim
