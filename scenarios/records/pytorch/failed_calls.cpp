#include "scenarios/records/pytorch/failed_calls.h"

#include "core/collectives/collective.h"
#include "scenarios/records/pytorch/age.h"
#include "scenarios/records/pytorch/progress.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace pdsim::scenarios::pytorch {
namespace {

// The newest collective of each rank in one group.
using Newest = std::map<std::size_t, Entry*>;  // by the place of the dump

bool needs_all(std::string_view name) {
  name.remove_prefix(std::min(name.size(), std::string_view("gloo:").size()));
  const CollectiveRow* kind = collective_named(name);
  return kind != nullptr && !kind->rooted;
}

// Its rank wrote the dump when the timeout of this call, the rank's last, had just run out.
bool ended_by_timeout(const Dump& dump, const Entry& entry) {
  constexpr std::int64_t slack_ns = 10'000'000'000;
  const std::optional<std::int64_t> written = believed_time(dump);
  if (!written || entry.timeout_ms <= 0 || entry.created_ns <= 0 || &dump.entries.back() != &entry) return false;
  const std::int64_t timeout_ns = std::min<std::int64_t>(entry.timeout_ms, 86'400'000) * 1'000'000;
  const std::int64_t over = *written - entry.created_ns - timeout_ns;
  return over >= 0 && over <= std::min(slack_ns, timeout_ns);
}

void mark_in_group(std::vector<Dump>& dumps, const Newest& newest) {
  std::int64_t last = -1;
  for (const auto& [place, entry] : newest) last = std::max(last, entry->collective_seq);
  bool any_behind = false;
  for (const auto& [place, entry] : newest) {
    if (entry->collective_seq == last) {
      if (!entry->retired || !needs_all(entry->name) || !ended_by_timeout(dumps[place], *entry)) return;
    } else if (entry->collective_seq == last - 1) {
      any_behind = true;
    } else {
      return;  // one call further back, others went on without it: its dump is older
    }
  }
  if (!any_behind) return;
  for (const auto& [place, entry] : newest)
    if (entry->collective_seq == last) entry->failed = true;
}

}  // namespace

void mark_failed(std::vector<Dump>& dumps) {
  if (!ends_by_retiring(dumps)) return;
  std::map<std::string, Newest> groups;
  for (std::size_t place = 0; place < dumps.size(); ++place)
    for (Entry& entry : dumps[place].entries) {
      if (entry.is_p2p || entry.collective_seq < 0) continue;
      Entry*& newest = groups[entry.group].try_emplace(place, &entry).first->second;
      if (entry.collective_seq > newest->collective_seq) newest = &entry;
    }
  for (const auto& [group, newest] : groups) mark_in_group(dumps, newest);
}

}  // namespace pdsim::scenarios::pytorch
