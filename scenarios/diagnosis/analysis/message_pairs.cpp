#include "scenarios/diagnosis/analysis/message_pairs.h"

#include "scenarios/records/log_view.h"

namespace pdsim::scenarios {
namespace {

bool is_message_like(const Call& call, std::string_view name, Rank peer, const std::string& group) {
  return call.layer == Layer::point_to_point && call.name == name && call.peer == peer && call.group == group;
}

std::string_view opposite(const Call& call) { return call.name == "send" ? "recv" : "send"; }

bool same_tags(const PairRules& rules, const Call& a, const Call& b) {
  return !rules.tags || a.details->tag == b.details->tag;
}

}  // namespace

bool could_meet(const Call& theirs, Rank rank, const Call& call) {
  return is_message_like(theirs, opposite(call), rank, call.group);
}

bool differ_in_size(const Call& call, const Call& other) {
  const auto bytes = [](const Call& c) { return c.count * static_cast<std::int64_t>(size_of(c.dtype)); };
  return call.count >= 0 && other.count >= 0 && bytes(call) != bytes(other);
}

const Call* met_by(const RunRecord& run, const PairRules& rules, Rank rank, const Call& call) {
  const RankLog& mine = log_of(run, rank);
  const RankLog& theirs = log_of(run, call.peer);
  const bool from_the_start = mine.dropped == 0 && theirs.dropped == 0;
  const auto counts = [&](const Call& c) { return from_the_start || is_open_at(c, rules.moment); };
  int before = 0;  // messages of this rank to the same peer with the same tag
  for (const Call& c : mine.calls) {
    if (c.id == call.id) break;
    if (is_message_like(c, call.name, call.peer, call.group) && same_tags(rules, c, call) && counts(c)) ++before;
  }
  for (const Call& c : theirs.calls)
    if (could_meet(c, rank, call) && c.issued <= rules.moment && same_tags(rules, c, call) && counts(c) &&
        before-- == 0)
      return &c;
  return nullptr;
}

}  // namespace pdsim::scenarios
