#include "scenarios/diagnosis/analysis/message_pairs.h"

#include "scenarios/records/log_view.h"

#include <algorithm>

namespace pdsim::scenarios {
namespace {

std::string_view opposite(const Call& call) { return call.name == "send" ? "recv" : "send"; }

}  // namespace

bool could_meet(const Call& theirs, Rank rank, const Call& call) {
  return theirs.layer == Layer::point_to_point && theirs.name == opposite(call) && theirs.peer == rank && theirs.group == call.group;
}

bool differ_in_size(const Call& call, const Call& other) {
  const auto bytes = [](const Call& c) { return c.count * static_cast<std::int64_t>(size_of(c.dtype)); };
  return call.count >= 0 && other.count >= 0 && bytes(call) != bytes(other);
}

PairRules pair_rules(const RunRecord& run, const LibrarySemantics* otherwise, Time moment) {
  const auto has_tags = [](const LibrarySemantics* library) { return library == nullptr || library->tags; };
  PairRules rules{has_tags(otherwise), {}, moment};
  std::map<std::string_view, bool> of_groups;
  for (const RankResult& result : run.ranks)
    for (const Note* note : notes_of<notes::BackendUsed>(result.log)) {
      const auto& used = note->as<notes::BackendUsed>();
      (used.group.empty() ? rules.tags : of_groups[used.group]) = has_tags(library_named(used.backend));
    }
  for (const auto& [group, tags] : of_groups)
    if (tags != rules.tags) rules.other_groups.emplace(group);
  return rules;
}

MessagePairs::Key MessagePairs::key_of(const Call& call, std::string_view name, Rank peer) const {
  return {name, peer, call.group, rules_.tags_in(call.group) ? call.details->tag : 0};
}

const MessagePairs::OfRank& MessagePairs::of(Rank rank) {
  const auto [known, is_new] = ranks_.try_emplace(rank);
  if (!is_new) return known->second;
  for (const Call& call : log_of(run_, rank).calls) {
    if (call.layer != Layer::point_to_point || call.issued > rules_.moment) continue;
    Messages& messages = known->second[key_of(call, call.name, call.peer)];
    messages.all.push_back(&call);
    if (is_open_at(call, rules_.moment)) messages.open.push_back(&call);
  }
  return known->second;
}

const Call* MessagePairs::met_by(Rank rank, const Call& call) {
  if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= run_.ranks.size()) return nullptr;
  const OfRank& all_mine = of(rank);
  const OfRank& all_theirs = of(call.peer);
  const auto mine = all_mine.find(key_of(call, call.name, call.peer));
  const auto theirs = all_theirs.find(key_of(call, opposite(call), rank));
  if (theirs == all_theirs.end()) return nullptr;
  const bool from_the_start = log_of(run_, rank).dropped == 0 && log_of(run_, call.peer).dropped == 0;
  const auto that_count = [&](const Messages& m) -> const std::vector<const Call*>& { return from_the_start ? m.all : m.open; };
  std::ptrdiff_t before = 0;  // messages of this rank to the same peer with the same tag
  if (mine != all_mine.end()) {
    const std::vector<const Call*>& sent = that_count(mine->second);
    before = std::lower_bound(sent.begin(), sent.end(), call.id, [](const Call* c, std::int64_t id) { return c->id < id; }) - sent.begin();
  }
  const std::vector<const Call*>& others = that_count(theirs->second);
  return static_cast<std::size_t>(before) < others.size() ? others[static_cast<std::size_t>(before)] : nullptr;
}

}  // namespace pdsim::scenarios
