#include "scenarios/guests/saved/shadowed_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using Operations = std::vector<SavedOperation>;

std::size_t index_of(const Operations& operations, const SavedOperation& met) {
  const auto found = std::find_if(operations.begin(), operations.end(), [&](const SavedOperation& o) {
    return o.seq > 0 && o.seq == met.seq && o.group == met.group;
  });
  return found == operations.end() ? SavedOperation::nothing : static_cast<std::size_t>(found - operations.begin());
}

// A stretch of a rank's operations, and the one that it shadows.
struct Shadowed {
  std::size_t first = 0, last = 0;              // in the rank's own, the last included
  std::size_t others_first = 0, others_last = 0;  // in the other's, with its waits
};

bool is_wait(const SavedOperation& o) { return o.awaits != SavedOperation::nothing; }

// Adds the waits for the stretch's calls that follow it. False: one of them stands behind another call.
bool take_waits(const Operations& operations, std::size_t first, std::size_t& last) {
  const std::size_t newest = last;
  const auto is_of_stretch = [&](const SavedOperation& o) { return is_wait(o) && o.awaits >= first && o.awaits <= newest; };
  while (last + 1 < operations.size() && is_of_stretch(operations[last + 1])) ++last;
  return std::none_of(operations.begin() + static_cast<std::ptrdiff_t>(last) + 1, operations.end(), is_of_stretch);
}

std::optional<Shadowed> shadowed_by(const Operations& own, const Operations& other) {
  Shadowed found;
  bool any = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!own[i].is_shadow) continue;
    const std::size_t met = index_of(other, own[i]);
    if (met == SavedOperation::nothing || other[met].is_shadow) break;
    if (other[met].name != own[i].name || other[met].options != own[i].options) return std::nullopt;
    if (!any) found.first = i, found.others_first = met;
    found.last = i;
    found.others_last = met;
    any = true;
  }
  const bool whole = any && take_waits(own, found.first, found.last) && take_waits(other, found.others_first, found.others_last);
  return whole ? std::optional(found) : std::nullopt;
}

// Only collectives and waits for them: nothing of either rank is lost or made up.
bool is_plain(const Operations& operations, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    const SavedOperation& o = operations[i];
    const bool waits_inside = is_wait(o) && o.awaits >= first;
    if (!waits_inside && o.seq <= 0) return false;
  }
  return true;
}

void replace(Operations& own, const Operations& other, const Shadowed& shadowed) {
  Operations made(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(shadowed.first));
  for (std::size_t i = shadowed.others_first; i <= shadowed.others_last; ++i) {
    made.push_back(other[i]);
    if (is_wait(made.back())) made.back().awaits = made.back().awaits - shadowed.others_first + shadowed.first;
  }
  const std::size_t before = shadowed.last + 1, after = made.size();
  for (std::size_t i = before; i < own.size(); ++i) {
    made.push_back(std::move(own[i]));
    std::size_t& awaits = made.back().awaits;
    if (is_wait(made.back()) && awaits >= before) awaits = awaits - before + after;
  }
  own = std::move(made);
}

}  // namespace

void follow_shadowed(std::vector<RankOperations>& ranks) {
  const std::vector<RankOperations> as_called = ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::optional<Shadowed> longest;  // of the rank that runs out of inputs last
    const Operations* of = nullptr;
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      if (other == r) continue;
      const auto found = shadowed_by(as_called[r].operations, as_called[other].operations);
      if (!found || (longest && longest->last >= found->last)) continue;
      longest = found;
      of = &as_called[other].operations;
    }
    if (longest && is_plain(as_called[r].operations, longest->first, longest->last) &&
        is_plain(*of, longest->others_first, longest->others_last))
      replace(ranks[r].operations, *of, *longest);
  }
}

}  // namespace pdsim::scenarios::guests
