#include "scenarios/records/pytorch/age.h"

#include <algorithm>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t patience_ns = 10 * second_ns;
constexpr std::int64_t usual_timeout_ms = 1'800'000;

bool is_open_entry(const Entry& entry) { return entry.state != EntryState::completed && !entry.retired; }

// The oldest open entry, else the newest of all; null when the dump lists none.
const Entry* telling_entry(const Dump& dump) {
  const auto open = std::find_if(dump.entries.begin(), dump.entries.end(), is_open_entry);
  if (open != dump.entries.end()) return &*open;
  return dump.entries.empty() ? nullptr : &dump.entries.back();
}

std::int64_t timeout_ns(const Entry& entry) {
  const std::int64_t ms = entry.timeout_ms > 0 ? std::min(entry.timeout_ms, usual_timeout_ms) : usual_timeout_ms;
  return ms * (second_ns / 1000);
}

}  // namespace

std::optional<std::int64_t> believed_time(const Dump& dump) {
  const Entry* entry = telling_entry(dump);
  if (entry == nullptr || !dump.written_ns || entry->created_ns == 0) return std::nullopt;
  const std::int64_t age = *dump.written_ns - std::max({entry->created_ns, entry->started_ns, entry->completed_ns});
  if (age < 0 || age > 2 * timeout_ns(*entry) + 300 * second_ns) return std::nullopt;
  return dump.written_ns;
}

bool was_running(const std::vector<Dump>& dumps) {
  bool any_young = false;
  for (const Dump& dump : dumps) {
    const std::optional<std::int64_t> written = believed_time(dump);
    const Entry* entry = telling_entry(dump);
    if (!written || entry == nullptr || !is_open_entry(*entry)) continue;
    if (*written - entry->created_ns >= std::min(patience_ns, timeout_ns(*entry))) return false;
    any_young = true;
  }
  return any_young;
}

}  // namespace pdsim::scenarios::pytorch
