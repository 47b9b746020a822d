#include "sim/network/match_table.h"

#include <bit>
#include <utility>

namespace pdsim::sim {

// Leaves the empty entries out. What is left takes a quarter of the places at most; up to some size the table grows all the same, for
// a small one would soon be full of empty entries again.
void MatchTable::rebuild() {
  constexpr std::size_t least = 64, grows_to = 65536;
  const std::vector<MatchEntry> before = std::move(slots_);
  used_ = static_cast<std::size_t>(
      std::count_if(before.begin(), before.end(), [](const MatchEntry& e) { return e.used && !e.empty(); }));
  const std::size_t grown = std::clamp(2 * before.size(), least, grows_to);
  slots_.assign(std::max(grown, std::bit_ceil(4 * (used_ + 1))), {});
  for (const MatchEntry& entry : before)
    if (entry.used && !entry.empty()) *find(entry.key) = entry;
}

}  // namespace pdsim::sim
