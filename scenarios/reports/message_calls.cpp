#include "scenarios/reports/message_calls.h"

#include <algorithm>

namespace pdsim::scenarios {
namespace {

constexpr std::ptrdiff_t most_overlapping = 64;  // calls of one rank that were under way at once, and are looked at

bool is_over_before(const Call& call, Time moment) {
  return !is_unfinished(call) && call.finished < moment;
}

}  // namespace

MessageCalls::MessageCalls(const RunRecord& run) : calls_(run.ranks.size()) {
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    for (const Call& call : run.ranks[rank].log.calls)
      if (call.layer == Layer::collective || call.layer == Layer::point_to_point) calls_[rank].push_back(&call);
    std::stable_sort(calls_[rank].begin(), calls_[rank].end(),
                     [](const Call* a, const Call* b) { return a->issued < b->issued; });
  }
}

const Call* MessageCalls::at(Rank rank, Time moment) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= calls_.size()) return nullptr;
  const std::vector<const Call*>& calls = calls_[static_cast<std::size_t>(rank)];
  auto call = std::upper_bound(calls.begin(), calls.end(), moment, [](Time t, const Call* c) { return t < c->issued; });
  for (std::ptrdiff_t looked = 0; call != calls.begin() && looked < most_overlapping; ++looked)
    if (--call; !is_over_before(**call, moment)) return *call;
  return nullptr;
}

}  // namespace pdsim::scenarios
