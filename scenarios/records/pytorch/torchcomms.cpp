#include "scenarios/records/pytorch/torchcomms.h"

#include <algorithm>
#include <map>
#include <string>

namespace pdsim::scenarios::pytorch {
namespace {

bool is_message(const Entry& entry) {
  const std::string_view name = entry.name;
  const std::size_t colon = name.find(':');
  const std::string_view operation = colon == std::string_view::npos ? name : name.substr(colon + 1);
  return operation.starts_with("send") || operation.starts_with("recv");
}

}  // namespace

bool is_of_torchcomms(const Dump& dump) {
  bool any_retired = false;
  for (const Entry& entry : dump.entries) {
    if (entry.state != EntryState::scheduled || entry.started_ns != 0 || entry.completed_ns != 0) return false;
    if (entry.name.starts_with("gloo:")) return false;
    any_retired = any_retired || entry.retired;
  }
  return any_retired;
}

void number_by_communicator(std::vector<Dump>& dumps) {
  for (Dump& dump : dumps) {
    if (!is_of_torchcomms(dump)) continue;
    const bool is_whole = dump.entries.front().record_id == 0;
    std::map<std::string, std::int64_t> collectives, messages;
    for (Entry& entry : dump.entries) {
      if (is_message(entry)) {
        entry.is_p2p = true;
        if (is_whole) entry.p2p_seq = ++messages[entry.group];
      } else if (is_whole) {
        entry.collective_seq = ++collectives[entry.group];
      }
    }
  }
}

}  // namespace pdsim::scenarios::pytorch
