#include "scenarios/reports/dumped/group_progress.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Members = std::map<Rank, MemberProgress>;
using Groups = std::map<std::string, Members, std::less<>>;

void add_members(const RunRecord& run, Groups& groups) {
  for (const RankResult& result : run.ranks)
    for (const Note& note : result.log.notes) {
      if (!note.is<notes::GroupMade>()) continue;
      const auto& made = note.as<notes::GroupMade>();
      for (const Rank rank : made.ranks) groups[made.group].try_emplace(rank);
    }
}

// Adds one rank, from its calls and its own account.
void add_rank(const RankLog& log, Groups& groups) {
  MemberProgress* mine = nullptr;
  const std::string* group = nullptr;
  for (const Call& call : log.calls) {
    const bool is_message = call.layer == Layer::point_to_point;
    if (call.layer != Layer::collective && !is_message) continue;
    if (group == nullptr || *group != call.group) {
      group = &call.group;
      mine = &groups[call.group][log.rank];
    }
    if (is_open_at(call, Time::max()) && mine->open == nullptr) mine->open = &call;
    if (is_message) continue;
    mine->enqueued = std::max(mine->enqueued, call.seq);
    if (call.state != CallState::completed || call.seq < mine->completed) continue;
    mine->completed = call.seq;
    mine->perhaps_failed = !call.message.empty();
  }
  for (const Note* note : notes_of<notes::GroupProgress>(log)) {
    const auto& account = note->as<notes::GroupProgress>();
    MemberProgress& progress = groups[account.group][log.rank];
    progress.enqueued = std::max(progress.enqueued, account.enqueued);
    progress.completed = std::max(progress.completed, account.completed);
  }
}

auto place(const MemberProgress& p) { return std::tuple(p.lost ? 0 : 1, p.enqueued, p.completed); }

// Members with one key are at one place.
std::tuple<bool, bool, Seq, Seq, std::string, Seq, Rank> key_of(const MemberProgress& p) {
  return {p.lost,
          p.perhaps_failed,
          p.enqueued,
          p.completed,
          p.open == nullptr ? std::string() : p.open->name,
          p.open == nullptr ? -1 : p.open->seq,
          p.open == nullptr ? no_rank : p.open->peer};
}

GroupState state_of(const std::string& name, const Members& members) {
  GroupState state{name, {}, false, false};
  std::map<std::tuple<bool, bool, Seq, Seq, std::string, Seq, Rank>, std::size_t> known;
  for (const auto& [rank, progress] : members) {
    state.is_open = state.is_open || progress.open != nullptr;
    const auto [it, is_new] = known.try_emplace(key_of(progress), state.parts.size());
    if (is_new) state.parts.push_back({{}, progress});
    state.parts[it->second].ranks.push_back(rank);
  }
  std::stable_sort(state.parts.begin(), state.parts.end(),
                   [](const GroupPart& a, const GroupPart& b) { return place(a.progress) < place(b.progress); });
  state.is_apart = state.parts.size() > 1;
  return state;
}

}  // namespace

std::vector<GroupState> group_states(const RunRecord& run) {
  Groups groups;
  add_members(run, groups);
  for (const RankResult& result : run.ranks) add_rank(result.log, groups);
  std::vector<GroupState> states;
  std::vector<char> lost;  // by rank: a rank of thousands of groups is asked once
  for (const RankResult& result : run.ranks) lost.push_back(is_lost(result.log) ? 1 : 0);
  for (auto& [name, members] : groups) {
    for (auto& [rank, progress] : members)
      progress.lost = static_cast<std::size_t>(rank) < lost.size() && lost[static_cast<std::size_t>(rank)] != 0;
    states.push_back(state_of(name, members));
  }
  std::stable_sort(states.begin(), states.end(), [](const GroupState& a, const GroupState& b) {
    return std::tuple(!a.is_apart, !a.is_open) < std::tuple(!b.is_apart, !b.is_open);
  });
  return states;
}

}  // namespace pdsim::scenarios
