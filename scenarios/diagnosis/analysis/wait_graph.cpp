#include "scenarios/diagnosis/analysis/wait_graph.h"

#include "core/collectives/collective.h"
#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/records/group_index.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

// One per operation, group and sequence number: shared by everybody who waits in it.
struct Hub {
  std::vector<Rank> missing;    // members that did not make this call
  std::vector<Rank> open;       // members that did, and are still in it
  bool elsewhere = false;       // one of `missing` is a member that the record does not name
  std::vector<Rank> earlier;    // of `open`: those that sit in a call before it
  std::vector<Rank> unstarted;  // and those of the others that have not started it, where some have
  std::string why;              // of `missing`
};
using HubKey = std::tuple<std::string, Seq, std::string>;

class Waits {
 public:
  Waits(const RunRecord& run, Time moment) : run_(run), moment_(moment), groups_(run) {}

  void fill(BlockedRank& blocked, const Call& call) {
    rank_ = blocked.rank;
    switch (call.layer) {
      case Layer::collective:
        return in_collective(blocked, call);
      case Layer::point_to_point:
        return in_message(blocked, call);
      case Layer::store:
        return in_store(blocked, call);
      case Layer::program:
        return in_program(blocked);
    }
  }

 private:
  const Hub& hub_of(const Call& call) {
    const auto [it, is_new] = hubs_.try_emplace(HubKey{call.group, call.seq, call.name});
    Hub& hub = it->second;
    if (!is_new) return hub;
    const std::vector<Rank>& members = groups_.members(call.group);
    bool any_done = false, any_lost = false;
    for (const Rank r : members) {
      const RankLog& log = log_of(run_, r);
      const Call* other = collective_at(log, call.group, call.seq);
      const bool came = other != nullptr ? other->name == call.name && other->issued <= moment_
                                         : is_dumped(log) && has_come(log, call.group, call.seq);
      any_lost = any_lost || is_lost(log);
      any_done = any_done || (other != nullptr && other->state == CallState::completed);
      if (!came && hub.missing.size() < most_listed) hub.missing.push_back(r);
      if (came && other != nullptr && is_open_at(*other, moment_) && hub.open.size() < most_listed)
        hub.open.push_back(r);
    }
    if (is_dumped(log_of(run_, rank_))) {
      if (any_done && !any_lost && needs_all(call)) strike_later(hub, call);
      if (hub.missing.empty() && groups_.is_open_ended(call.group)) add_strangers(hub, members);
      if (hub.missing.empty()) sort_open(hub, call);
    }
    if (!hub.missing.empty()) hub.why = why_missing(hub.missing, call);
    return hub;
  }

  // A call that is done on one rank was made by all: those that are missing wrote their dumps before they made it.
  void strike_later(Hub& hub, const Call& call) const {
    std::erase_if(hub.missing, [&](Rank r) { return collective_at(log_of(run_, r), call.group, call.seq) == nullptr; });
  }

  static bool needs_all(const Call& call) {
    const CollectiveRow* kind = collective_named(call.name);
    return kind == nullptr || !kind->rooted;
  }

  // Somebody outside of the known members is needed; who is not recorded.
  void add_strangers(Hub& hub, const std::vector<Rank>& members) const {
    const auto size = static_cast<Rank>(run_.ranks.size());
    for (Rank r = 0; r < size && hub.missing.size() < most_listed; ++r)
      if (!std::binary_search(members.begin(), members.end(), r)) hub.missing.push_back(r);
    hub.elsewhere = !hub.missing.empty();
  }

  bool is_missing(Rank rank, const Call& call) const {
    if (rank < 0 || static_cast<std::size_t>(rank) >= run_.ranks.size()) return false;
    const Call* theirs = collective_at(log_of(run_, rank), call.group, call.seq);
    return theirs == nullptr || theirs->name != call.name || theirs->issued > moment_;
  }

  void in_collective(BlockedRank& blocked, const Call& call) {
    const Hub& hub = hub_of(call);
    const CollectiveRow* kind = collective_named(call.name);
    const bool root_is_missing = kind != nullptr && kind->rooted && is_missing(call.root, call);
    if (root_is_missing) {
      blocked.waits_for = {call.root};
    } else if (!hub.missing.empty()) {
      blocked.waits_for = hub.missing;
      blocked.any = hub.elsewhere && hub.missing.size() > 1;
      if (hub.elsewhere) {
        blocked.why = "which may belong to this group";
        return;
      }
    } else if (is_dumped(log_of(run_, blocked.rank))) {
      return among_those_that_came(blocked, call, hub);
    } else {
      blocked.waits_for = hub.open;
      blocked.waits_for.erase(std::remove(blocked.waits_for.begin(), blocked.waits_for.end(), blocked.rank),
                              blocked.waits_for.end());
      const auto ended = [this](Rank r) { return !is_running_at(log_of(run_, r), moment_); };
      const bool all =
          !blocked.waits_for.empty() && std::all_of(blocked.waits_for.begin(), blocked.waits_for.end(), ended);
      blocked.any = !all && blocked.waits_for.size() > 1;  // which message is missing is not recorded
      blocked.why = all ? "which ended in it" : "whose messages did not arrive";
      return;
    }
    if (root_is_missing || hub.why.empty()) {
      blocked.why = why_missing(blocked.waits_for, call);
    } else {
      blocked.why = hub.why;
    }
  }

  // Of a call that every member made: those in an earlier one, or whose device did not start it.
  void sort_open(Hub& hub, const Call& call) const {
    bool started = false;
    for (const Rank r : hub.open) {
      const Call* theirs = collective_at(log_of(run_, r), call.group, call.seq);
      const Call* sits = sits_in(log_of(run_, r), moment_);
      started = started || theirs->state == CallState::started;
      if (sits != nullptr && sits->id < theirs->id) {
        hub.earlier.push_back(r);
      } else if (theirs->state == CallState::issued) {
        hub.unstarted.push_back(r);
      }
    }
    if (!started) hub.unstarted.clear();
  }

  static void among_those_that_came(BlockedRank& blocked, const Call& call, const Hub& hub) {
    const bool one = hub.earlier.size() == 1;
    if (!hub.earlier.empty()) {
      blocked.waits_for = hub.earlier;
      blocked.why = one ? "which is still in an earlier call" : "which are still in earlier calls";
    } else if (call.state == CallState::started && !hub.unstarted.empty()) {
      blocked.waits_for = hub.unstarted;
      blocked.why = hub.unstarted.size() == 1 ? "whose GPU has not started it" : "whose GPUs have not started it";
    } else {
      blocked.why = "every rank has come";
    }
    std::erase(blocked.waits_for, blocked.rank);
  }

  std::string why_missing(const std::vector<Rank>& ranks, const Call& call) const {
    const auto count = [&](auto holds) { return std::count_if(ranks.begin(), ranks.end(), holds); };
    const auto all = static_cast<std::ptrdiff_t>(ranks.size());
    const auto log = [&](Rank r) -> const RankLog& { return log_of(run_, r); };
    if (count([&](Rank r) { return !is_running_at(log(r), moment_) && log(r).end == RankEnd::died; }) == all)
      return "which died before it";
    if (count([&](Rank r) { return !is_running_at(log(r), moment_) && log(r).end == RankEnd::raised; }) == all)
      return "which ended with an error before it";
    if (count([&](Rank r) { return !is_running_at(log(r), moment_); }) == all) return "which ended without calling it";
    const Call* instead = collective_at(log(ranks.front()), call.group, call.seq);
    const auto same_instead = [&](Rank r) {
      const Call* other = collective_at(log(r), call.group, call.seq);
      return instead != nullptr && other != nullptr && other->name == instead->name &&
             other->purpose == instead->purpose;
    };
    if (count([&](Rank r) { return is_lost(log(r)); }) == all) return "of which there is no record";
    if (count(same_instead) == all)
      return fmt::format("which called {} instead", instead->name == call.name ? call_text(*instead) : instead->name);
    std::vector<Rank> lost;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(lost), [&](Rank r) { return is_lost(log(r)); });
    if (!lost.empty()) return fmt::format("which have not called it, but for {}, of which there is no record", ranks_text(lost));
    return ranks.size() == 1 ? "which has not called it" : "which have not called it";
  }

  void in_message(BlockedRank& blocked, const Call& call) {
    if (call.peer == any_source) return any_other(blocked, "none of which sends to it");
    if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= run_.ranks.size()) {
      blocked.why = "its peer is not recorded";
      return;
    }
    if (is_dumped(log_of(run_, blocked.rank))) return in_dumped_message(blocked, call);
    blocked.waits_for = {call.peer};
    const RankLog& peer = log_of(run_, call.peer);
    const std::string_view wanted = call.name == "send" ? "receive it" : "send it";
    if (!is_running_at(peer, moment_)) {
      blocked.why = fmt::format("which ended and did not {}", wanted);
    } else {
      blocked.why = fmt::format("which does not {}", wanted);
    }
  }

  // The calls of a batch progress together, others in their order.
  void in_dumped_message(BlockedRank& blocked, const Call& call) const {
    const PairRules rules{false, moment_};
    std::vector<Rank> absent, earlier;
    const Call* unmet = nullptr;
    const Call* before = nullptr;
    for (const Call& mine : log_of(run_, blocked.rank).calls) {
      const bool together =
          mine.id == call.id || (call.details->batch >= 0 && mine.details->batch == call.details->batch);
      if (!together || mine.layer != Layer::point_to_point || mine.peer < 0 || !is_open_at(mine, moment_)) continue;
      if (static_cast<std::size_t>(mine.peer) >= run_.ranks.size()) continue;
      const Call* met = met_by(run_, rules, blocked.rank, mine);
      const Call* sits = sits_in(log_of(run_, mine.peer), moment_);
      if (met == nullptr || (is_open_at(*met, moment_) && differ_in_size(mine, *met))) {
        absent.push_back(mine.peer);
        if (unmet == nullptr) unmet = &mine;
      } else if (sits != nullptr && sits->id < met->id &&
                 (met->details->batch < 0 || sits->details->batch != met->details->batch)) {
        earlier.push_back(mine.peer);
        before = sits;
      }
    }
    std::vector<Rank>& ranks = absent.empty() ? earlier : absent;
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    blocked.why = unmet != nullptr    ? why_unmet(call, *unmet)
                  : before != nullptr ? fmt::format("which is still in an earlier {}", before->name)
                                      : "both sides have come";
    blocked.waits_for = std::move(ranks);
  }

  std::string why_unmet(const Call& call, const Call& unmet) const {
    if (is_lost(log_of(run_, unmet.peer))) return "of which there is no record";
    const bool sends = unmet.name == "send";
    if (unmet.id == call.id) return sends ? "which did not receive it" : "which did not send it";
    return sends ? "which did not receive the send of the same batch" : "which did not send for the recv of the same batch";
  }

  void in_program(BlockedRank& blocked) const {
    if (stop_of(log_of(run_, blocked.rank), moment_) != nullptr) blocked.why = "it stopped";
  }

  void in_store(BlockedRank& blocked, const Call& call) {
    any_other(blocked, call.purpose.empty() ? std::string("none of which sets the key")
                                            : fmt::format("none of which sets the key {}", text_of(call.purpose)));
  }

  void any_other(BlockedRank& blocked, std::string why) const {
    for (std::size_t r = 0; r < run_.ranks.size() && blocked.waits_for.size() < most_listed; ++r)
      if (static_cast<Rank>(r) != blocked.rank) blocked.waits_for.push_back(static_cast<Rank>(r));
    blocked.any = blocked.waits_for.size() > 1;
    blocked.why = std::move(why);
    if (!blocked.any) blocked.why.replace(0, std::string("none of which").size(), "which never");
  }

  const RunRecord& run_;
  Time moment_;
  GroupIndex groups_;
  Rank rank_ = 0;  // whose wait is being filled in
  std::map<HubKey, Hub> hubs_;
};

}  // namespace

std::vector<BlockedRank> blocked_ranks(const RunRecord& run, Time moment, bool everyone) {
  std::vector<BlockedRank> all;
  Waits waits(run, moment);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const RankLog& log = run.ranks[r].log;
    const Call* call = sits_in(log, moment);
    if (call == nullptr || (call->layer == Layer::program && !everyone)) continue;
    BlockedRank blocked;
    blocked.rank = static_cast<Rank>(r);
    const Call* around = call->layer == Layer::store ? enclosing(log, *call) : nullptr;
    blocked.in = around != nullptr ? around->name : call->layer == Layer::store ? call->site.op : call->name;
    blocked.group = call->group;
    blocked.seq = call->seq;
    blocked.step = call->site.step;
    blocked.site = call->site.op;
    blocked.purpose = call->purpose;
    blocked.since = state_at(log, moment).since.value_or(call->issued);
    blocked.call = call->id;
    waits.fill(blocked, *call);
    all.push_back(std::move(blocked));
  }
  return all;
}

std::vector<Rank> wait_cycle(const std::vector<BlockedRank>& blocked) {
  std::map<Rank, const BlockedRank*> by_rank;
  for (const BlockedRank& b : blocked)
    if (!b.any) by_rank[b.rank] = &b;  // who waits for one of several is in no certain circle
  // Breadth first from each rank in order: the first way back to the start is a shortest circle through it. With many
  // ranks the starts are limited; a circle is an illustration, not the proof.
  std::vector<Rank> best;
  int starts = 0;
  for (const auto& [start, unused] : by_rank) {
    if (++starts > 64 || best.size() == 2) break;
    std::map<Rank, Rank> from;
    std::deque<Rank> open{start};
    bool closed = false;
    while (!open.empty() && !closed) {
      const Rank at = open.front();
      open.pop_front();
      for (const Rank next : by_rank.at(at)->waits_for) {
        if (next == start) {
          std::vector<Rank> cycle{at};
          while (cycle.back() != start) cycle.push_back(from.at(cycle.back()));
          std::reverse(cycle.begin(), cycle.end());
          if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
          closed = true;
          break;
        }
        if (by_rank.count(next) != 0 && next != start && from.try_emplace(next, at).second) open.push_back(next);
      }
    }
  }
  return best;
}

std::vector<Rank> never_released(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished,
                                 int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<const BlockedRank*> waiting(size, nullptr);
  std::vector<char> gone(size, 0);
  for (const BlockedRank& b : blocked) waiting[static_cast<std::size_t>(b.rank)] = &b;
  for (const Rank r : finished) gone[static_cast<std::size_t>(r)] = 1;
  std::vector<std::vector<Rank>> waited_by(size);
  std::vector<std::size_t> left(size, 0);
  std::deque<Rank> free;
  for (std::size_t r = 0; r < size; ++r) {
    const BlockedRank* b = waiting[r];
    if (b != nullptr) {
      left[r] = b->any ? 1 : b->waits_for.size();
      for (const Rank w : b->waits_for) waited_by[static_cast<std::size_t>(w)].push_back(static_cast<Rank>(r));
    } else if (gone[r] == 0) {
      free.push_back(static_cast<Rank>(r));
    }
  }
  std::vector<char> released(size, 0);
  while (!free.empty()) {
    const auto at = static_cast<std::size_t>(free.front());
    free.pop_front();
    if (released[at] != 0) continue;
    released[at] = 1;
    for (const Rank w : waited_by[at]) {
      const auto i = static_cast<std::size_t>(w);
      if (left[i] > 0 && --left[i] == 0) free.push_back(w);
    }
  }
  std::vector<Rank> stuck;
  for (std::size_t r = 0; r < size; ++r)
    if (waiting[r] != nullptr && released[r] == 0) stuck.push_back(static_cast<Rank>(r));
  return stuck;
}

}  // namespace pdsim::scenarios
