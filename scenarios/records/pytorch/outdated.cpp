#include "scenarios/records/pytorch/outdated.h"

#include "core/collectives/collective_kind.h"
#include "scenarios/records/pytorch/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace pdsim::scenarios::pytorch {
namespace {

bool is_of_all_ranks(const Entry& entry) {
  return !entry.is_p2p && entry.collective_seq >= 0 && (entry.group_desc == "default_pg" || (entry.group_desc.empty() && entry.group == "0"));
}

bool needs_all(const Entry& entry) {
  const OpName op = op_name_of(entry.name);
  const CollectiveRow* kind = op.backend == "nccl" ? collective_named(op.name) : nullptr;
  return kind != nullptr && !kind->rooted;
}

// The newest call of the default group that the rank has made, as far as the dump says; -1: none.
std::int64_t newest_made(const Dump& dump) {
  std::int64_t made = -1;
  for (const Entry& entry : dump.entries)
    if (is_of_all_ranks(entry)) made = std::max(made, entry.collective_seq);
  for (const GroupStatus& status : dump.status)
    if (status.pg_id == "0") made = std::max(made, status.enqueued);
  return made;
}

// The newest call that completed in its time; null: none is known.
const Entry* newest_proven(const Dump& dump) {
  const Entry* proven = nullptr;
  std::int64_t later_ns = 0;  // when a later call that completed was made
  for (auto entry = dump.entries.rbegin(); entry != dump.entries.rend(); ++entry) {
    if (!is_of_all_ranks(*entry) || entry->state != EntryState::completed) continue;
    if (entry->completed_ns > 0 && entry->completed_ns < later_ns && needs_all(*entry) &&
        (proven == nullptr || entry->collective_seq > proven->collective_seq))
      proven = &*entry;
    later_ns = std::max(later_ns, entry->created_ns);
  }
  return proven;
}

}  // namespace

void leave_out_outdated(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  const Entry* proven = nullptr;
  for (const Dump& dump : dumps)
    if (const Entry* own = newest_proven(dump); own != nullptr && (proven == nullptr || own->collective_seq > proven->collective_seq)) proven = own;
  if (proven == nullptr) return;
  const std::int64_t seq = proven->collective_seq;
  const auto is_outdated = [seq](const Dump& dump) { return newest_made(dump) < seq; };
  const auto count = std::count_if(dumps.begin(), dumps.end(), is_outdated);
  if (count == 0 || count * 4 > static_cast<std::ptrdiff_t>(dumps.size())) return;
  std::erase_if(dumps, [&](const Dump& dump) {
    if (!is_outdated(dump)) return false;
    const std::int64_t made = newest_made(dump);
    left_out.push_back({dump.file, dump.rank,
                        fmt::format("{}, but other ranks completed call #{} of the default group, which needs this rank: the dump was written "
                                    "earlier, or the recorder was off",
                                    made < 0 ? "it lists no call" : fmt::format("its newest call is #{}", made), seq)});
    return true;
  });
}

}  // namespace pdsim::scenarios::pytorch
