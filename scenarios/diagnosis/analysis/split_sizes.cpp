#include "scenarios/diagnosis/analysis/split_sizes.h"

#include "core/collectives/collective_kind.h"

#include <algorithm>

namespace pdsim::scenarios {
namespace {

bool has_splits(const Call* call) {
  return call != nullptr && !call->details->sends.empty() && !call->details->receives.empty();
}

std::optional<SplitMismatch> pair_mismatch(const RankCalls& calls) {
  std::optional<SplitMismatch> found;
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (std::size_t j = 0; j < calls.size(); ++j) {
      if (!has_splits(calls[i].second) || !has_splits(calls[j].second)) continue;
      const auto& sends = calls[i].second->details->sends.sizes;
      const auto& receives = calls[j].second->details->receives.sizes;
      if (sends.size() != calls.size() || receives.size() != calls.size() || sends[j] == receives[i]) continue;
      const Rank from = calls[i].first, to = calls[j].first;
      if (!found) {
        found = SplitMismatch{sends[j], receives[i], from, to, {from}, 0};
        if (to != from) found->in_all_pairs.push_back(to);
      }
      ++found->pairs;
      std::erase_if(found->in_all_pairs, [&](Rank r) { return r != from && r != to; });
    }
  return found;
}

std::optional<SplitMismatch> sum_mismatch(const RankCalls& calls) {
  SplitMismatch sums;
  for (const auto& [rank, call] : calls) {
    if (!has_splits(call)) return std::nullopt;
    if (__builtin_add_overflow(sums.sent, call->details->sends.elements, &sums.sent) ||
        __builtin_add_overflow(sums.expected, call->details->receives.elements, &sums.expected))
      return std::nullopt;
  }
  if (sums.sent == sums.expected) return std::nullopt;
  return sums;
}

bool is_all_to_all(const Call& call) {
  const CollectiveRow* kind = collective_named(call.name);
  return kind != nullptr && kind->input_in_parts && kind->output_in_parts;
}

}  // namespace

std::optional<SplitMismatch> split_mismatch(const RankCalls& calls) {
  const auto first = std::find_if(calls.begin(), calls.end(), [](const auto& c) { return c.second != nullptr; });
  if (first == calls.end() || !is_all_to_all(*first->second)) return std::nullopt;
  const bool same = std::all_of(calls.begin(), calls.end(), [&](const auto& c) {
    return c.second == nullptr || c.second->name == first->second->name;
  });
  if (!same) return std::nullopt;
  std::optional<SplitMismatch> found = pair_mismatch(calls);
  return found ? found : sum_mismatch(calls);
}

}  // namespace pdsim::scenarios
