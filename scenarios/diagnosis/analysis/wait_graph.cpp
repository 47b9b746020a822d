#include "scenarios/diagnosis/analysis/wait_graph.h"

#include "core/base/int_set.h"
#include "core/collectives/collective.h"
#include "scenarios/diagnosis/analysis/attendance.h"
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/records/group_index.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Ranks = SharedValue<std::vector<Rank>>;

// One per operation, group and sequence number: shared by everybody who waits in it. Who is in the call is not among those it waits for,
// but for `open`.
struct Hub {
  Ranks missing;    // members that did not make this call
  Ranks open;       // members that did, and are still in it
  Ranks earlier;    // of `open`: those that sit in a call before it
  Ranks unstarted;  // and those of the others that have not started it, where some have
  std::size_t unlisted = 0;  // more that are missing
  std::size_t ended = 0;     // of `open`
  bool elsewhere = false;    // one of `missing` is a member that the record does not name
  std::string why;           // of `missing`
};
using HubKey = std::tuple<std::string, Seq, std::string>;

// So many ranks are listed in all, in hundreds of calls the missing ranks of a large world; then the first few of each.
constexpr std::size_t most_listed_in_all = std::size_t{1} << 21, few_listed = 64;

class Waits {
 public:
  Waits(const RunRecord& run, Time moment, const std::vector<const Call*>& asked)
      : run_(run), moment_(moment), groups_(run), attendance_(run, asked), pairs_(run, pair_rules(run, nullptr, moment)) {
    for (const RankResult& result : run.ranks) {
      lost_.push_back(is_lost(result.log) ? 1 : 0);
      dumped_.push_back(is_dumped(result.log) ? 1 : 0);
    }
    std::vector<Rank> all(run.ranks.size());
    std::iota(all.begin(), all.end(), 0);
    everybody_ = std::move(all);
  }

  void fill(BlockedRank& blocked, const Call& call) {
    rank_ = blocked.rank;
    switch (call.layer) {
      case Layer::collective:
        return in_collective(blocked, call);
      case Layer::point_to_point:
        return in_message(blocked, call);
      case Layer::store:
        return in_store(blocked, call);
      case Layer::rpc:
        return call.peer < 0 ? in_rpc_shutdown(blocked) : in_rpc(blocked, call);
      case Layer::program:
        return in_program(blocked);
    }
  }

 private:
  bool is_set(const std::vector<char>& of, Rank rank) const { return of[static_cast<std::size_t>(rank)] != 0; }

  const Hub& hub_of(const Call& call) {
    const auto [it, is_new] = hubs_.try_emplace(HubKey{call.group, call.seq, call.name});
    if (is_new) fill_hub(it->second, call);
    return it->second;
  }

  void fill_hub(Hub& hub, const Call& call) {
    const std::vector<Rank>& members = groups_.members(call.group);
    std::vector<Rank> open, missing = missing_in(call, members, hub.unlisted);
    bool any_done = false;
    const bool is_of_dump = is_set(dumped_, rank_);
    for (const auto& [rank, other] : attendance_.made(call)) {
      any_done = any_done || (is_of_dump && is_done(log_of(run_, rank), *other, call));
      if (!is_same(*other, call) || !is_open_at(*other, moment_)) continue;
      open.push_back(rank);
      hub.ended += is_running_at(log_of(run_, rank), moment_) ? 0 : 1;
    }
    if (is_of_dump) {
      if (any_done && needs_all(call) && !any_lost(members)) {
        strike_later(missing, call);
        hub.unlisted = 0;
      }
      if (missing.empty() && groups_.is_open_ended(call.group)) add_strangers(hub, missing, members);
      if (missing.empty() || all_lost(missing)) sort_open(hub, open, call);
      if (!hub.earlier->empty()) missing.clear();  // those without a record may have come, and these are known to wait
    }
    if (!missing.empty()) hub.why = why_missing(missing, call);
    listed_ += missing.size();
    hub.open = std::move(open);
    hub.missing = std::move(missing);
  }

  bool is_same(const Call& other, const Call& call) const { return other.name == call.name && other.issued <= moment_; }

  bool any_lost(const std::vector<Rank>& members) const {
    return std::any_of(members.begin(), members.end(), [&](Rank r) { return is_set(lost_, r); });
  }

  // A call that is over and may have failed (its message says so) completed where its rank went on, and is taken for
  // completed unless the age of `open`, the same call of rank_, shows that it hangs.
  bool is_done(const RankLog& log, const Call& call, const Call& open) const {
    if (call.state != CallState::completed) return false;
    if (call.message.empty() || call.id != log.calls.back().id) return true;
    constexpr Time patience{10'000'000'000'000};
    const auto& dump = first_note<notes::Dumped>(log_of(run_, rank_))->as<notes::Dumped>();
    return dump.written_ns < 0 || Time{1000} * dump.written_ns - open.issued < patience;
  }

  bool all_lost(const std::vector<Rank>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(), [&](Rank r) { return is_set(lost_, r); });
  }

  // Members that did not make the call; how many more there are that the record does not list one by one.
  std::vector<Rank> missing_in(const Call& call, const std::vector<Rank>& members, std::size_t& unlisted) const {
    const Attendance::Row& made = attendance_.made(call);
    std::vector<Rank> missing;
    auto at = made.begin();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Rank rank = members[i];
      while (at != made.end() && at->first < rank) ++at;
      const bool is_listed = at != made.end() && at->first == rank;
      if (is_listed ? is_same(*at->second, call) : is_set(dumped_, rank) && attendance_.came_by_account(rank, call)) continue;
      if (listed_ + missing.size() >= most_listed_in_all && missing.size() >= few_listed) {
        const auto rest = static_cast<std::size_t>(
            std::count_if(at, made.end(), [&](const auto& m) { return is_same(*m.second, call); }));
        unlisted = members.size() - i - std::min(rest, members.size() - i);
        break;
      }
      missing.push_back(rank);
    }
    return missing;
  }

  // A call that is done on one rank was made by all: those that are missing wrote their dumps before they made it.
  void strike_later(std::vector<Rank>& missing, const Call& call) const {
    std::erase_if(missing, [&](Rank r) { return attendance_.of(r, call) == nullptr; });
  }

  static bool needs_all(const Call& call) {
    const CollectiveRow* kind = collective_named(call.name);
    return kind == nullptr || !kind->rooted;
  }

  // Somebody outside of the known members is needed; who is not recorded.
  void add_strangers(Hub& hub, std::vector<Rank>& missing, const std::vector<Rank>& members) const {
    const auto size = static_cast<Rank>(run_.ranks.size());
    for (Rank r = 0; r < size; ++r)
      if (!std::binary_search(members.begin(), members.end(), r)) missing.push_back(r);
    hub.elsewhere = !missing.empty();
  }

  bool is_missing(Rank rank, const Call& call) const {
    if (rank < 0 || static_cast<std::size_t>(rank) >= run_.ranks.size()) return false;
    const Call* theirs = attendance_.of(rank, call);
    return theirs == nullptr || !is_same(*theirs, call);
  }

  void in_collective(BlockedRank& blocked, const Call& call) {
    const Hub& hub = hub_of(call);
    const CollectiveRow* kind = collective_named(call.name);
    const bool root_is_missing = kind != nullptr && kind->rooted && is_missing(call.root, call);
    if (root_is_missing) {
      blocked.waits_for = std::vector<Rank>{call.root};
      blocked.why = why_missing(*blocked.waits_for, call);
    } else if (!hub.missing->empty()) {
      blocked.waits_for = hub.missing;
      blocked.unlisted = hub.unlisted;
      blocked.any = hub.elsewhere && hub.missing->size() > 1;
      blocked.why = hub.elsewhere ? "which may belong to this group" : hub.why;
    } else if (is_set(dumped_, blocked.rank)) {
      among_those_that_came(blocked, call, hub);
    } else {
      if (is_alone(hub, blocked.rank)) return after_those_that_gave_up(blocked, call);
      blocked.waits_for = hub.open;
      const auto self = static_cast<std::size_t>(
          std::binary_search(hub.open->begin(), hub.open->end(), blocked.rank) ? 1 : 0);
      const std::size_t others = hub.open->size() - self;
      const bool all = others > 0 && hub.ended == others;
      blocked.any = !all && others > 1;  // which message is missing is not recorded
      blocked.why = all ? "which ended in it" : "whose messages did not arrive";
    }
  }

  static bool is_alone(const Hub& hub, Rank rank) {
    return hub.open->empty() || (hub.open->size() == 1 && hub.open->front() == rank);
  }

  // Every member made the call, and the others are no longer in it: those whose call failed.
  void after_those_that_gave_up(BlockedRank& blocked, const Call& call) const {
    std::vector<Rank> gone;
    for (const auto& [rank, other] : attendance_.made(call))
      if (rank != blocked.rank && other->state != CallState::completed) gone.push_back(rank);
    blocked.why = gone.empty() ? "the others are done with it" : "which gave it up";
    blocked.waits_for = Ranks(std::move(gone));
  }

  // Sorts the ranks of a call that every member made: those in an earlier one, or whose device did not start it.
  void sort_open(Hub& hub, const std::vector<Rank>& open, const Call& call) const {
    bool started = false;
    std::vector<Rank> earlier, unstarted;
    for (const Rank r : open) {
      const Call* theirs = attendance_.of(r, call);
      const Call* sits = sits_in(log_of(run_, r), moment_);
      started = started || theirs->state == CallState::started;
      if (sits != nullptr && sits->id < theirs->id) {
        earlier.push_back(r);
      } else if (theirs->state == CallState::issued) {
        unstarted.push_back(r);
      }
    }
    hub.earlier = std::move(earlier);
    if (started) hub.unstarted = std::move(unstarted);
  }

  static void among_those_that_came(BlockedRank& blocked, const Call& call, const Hub& hub) {
    if (!hub.earlier->empty()) {
      blocked.waits_for = hub.earlier;
      blocked.why = hub.earlier->size() == 1 ? "which is still in an earlier call" : "which are still in earlier calls";
    } else if (call.state == CallState::started && !hub.unstarted->empty()) {
      blocked.waits_for = hub.unstarted;
      blocked.why = hub.unstarted->size() == 1 ? "whose GPU has not started it" : "whose GPUs have not started it";
    } else {
      blocked.why = "every rank has come";
    }
  }

  std::string why_missing(const std::vector<Rank>& ranks, const Call& call) const {
    const auto log = [&](Rank r) -> const RankLog& { return log_of(run_, r); };
    const auto all = [&](auto holds) { return std::all_of(ranks.begin(), ranks.end(), holds); };
    const auto ended = [&](Rank r) { return !is_running_at(log(r), moment_); };
    if (all([&](Rank r) { return ended(r) && log(r).end == RankEnd::died; })) return "which died before it";
    if (all([&](Rank r) { return ended(r) && log(r).end == RankEnd::raised; })) return "which ended with an error before it";
    if (all(ended)) return "which ended without calling it";
    const Call* instead = attendance_.of(ranks.front(), call);
    const auto same_instead = [&](Rank r) {
      const Call* other = attendance_.of(r, call);
      return instead != nullptr && other != nullptr && other->name == instead->name &&
             other->purpose == instead->purpose;
    };
    if (all([&](Rank r) { return is_set(lost_, r); })) return "of which there is no record";
    if (all(same_instead))
      return fmt::format("which called {} instead", instead->name == call.name ? call_text(*instead) : instead->name);
    std::vector<Rank> lost;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(lost), [&](Rank r) { return is_set(lost_, r); });
    if (!lost.empty()) return fmt::format("which have not called it, except {}, which left no record", ranks_text(lost));
    return ranks.size() == 1 ? "which has not called it" : "which have not called it";
  }

  void in_message(BlockedRank& blocked, const Call& call) {
    if (call.peer == any_source) return any_other(blocked, "none of which sends to it");
    if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= run_.ranks.size()) {
      blocked.why = "its peer is not recorded";
      return;
    }
    if (is_set(dumped_, blocked.rank)) return in_dumped_message(blocked, call);
    blocked.waits_for = std::vector<Rank>{call.peer};
    const bool sends = call.name == "send", ended = !is_running_at(log_of(run_, call.peer), moment_);
    if (const Call* met = pairs_.met_by(blocked.rank, call)) {
      blocked.why = fmt::format("which has called {} for it{}{}", met->name, differ_in_size(call, *met) ? ", with another size" : "",
                                ended ? ", and ended" : "");
    } else {
      blocked.why = fmt::format("{} {}", ended ? "which ended and did not" : "which does not", sends ? "receive it" : "send it");
    }
  }

  // The calls of a batch progress together, others in their order.
  void in_dumped_message(BlockedRank& blocked, const Call& call) {
    std::map<Rank, const Call*> peers_sit_in;
    std::vector<Rank> absent, earlier;
    bool several = false;  // messages without a counterpart, of both kinds
    const Call* unmet = nullptr;
    const Call* before = nullptr;
    for (const Call& mine : log_of(run_, blocked.rank).calls) {
      const bool together =
          mine.id == call.id || (call.details->batch >= 0 && mine.details->batch == call.details->batch);
      if (!together || mine.layer != Layer::point_to_point || mine.peer < 0 || !is_open_at(mine, moment_)) continue;
      if (static_cast<std::size_t>(mine.peer) >= run_.ranks.size()) continue;
      const Call* met = pairs_.met_by(blocked.rank, mine);
      const auto [peer, is_new] = peers_sit_in.try_emplace(mine.peer);
      if (is_new) peer->second = sits_in(log_of(run_, mine.peer), moment_);
      const Call* sits = peer->second;
      if (met == nullptr || (is_open_at(*met, moment_) && differ_in_size(mine, *met))) {
        absent.push_back(mine.peer);
        if (unmet == nullptr) unmet = &mine;
        several = several || mine.name != unmet->name;
      } else if (sits != nullptr && sits->id < met->id &&
                 (met->details->batch < 0 || sits->details->batch != met->details->batch)) {
        earlier.push_back(mine.peer);
        before = sits;
      }
    }
    std::vector<Rank>& ranks = absent.empty() ? earlier : absent;
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    blocked.why = several             ? "which did not make the other side of its messages"
                  : unmet != nullptr  ? why_unmet(call, *unmet)
                  : before != nullptr ? fmt::format("which is still in an earlier {}", before->name)
                                      : "both sides have come";
    blocked.waits_for = Ranks(std::move(ranks));
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

  // The next worker on the way; `why` has the rest of it.
  void in_rpc(BlockedRank& blocked, const Call& call) const {
    if (static_cast<std::size_t>(call.peer) >= run_.ranks.size()) {
      blocked.why = "its callee is not recorded";
      return;
    }
    const RpcChain chain = rpc_chain(run_, blocked.rank, call, moment_);
    blocked.why = why_of(run_, chain);
    for (const RpcHop& hop : chain.hops)
      if (hop.callee != blocked.rank) {
        blocked.waits_for = std::vector<Rank>{hop.callee};
        return;
      }
  }

  void in_rpc_shutdown(BlockedRank& blocked) const {
    for (const bool missing : {true, false}) {
      std::vector<Rank> keep;
      for (std::size_t r = 0; r < run_.ranks.size(); ++r)
        if (static_cast<Rank>(r) != blocked.rank && keeps_shutdown(run_.ranks[r].log, missing))
          keep.push_back(static_cast<Rank>(r));
      if (keep.empty()) continue;
      const bool one = keep.size() == 1;
      blocked.waits_for = std::move(keep);
      blocked.why = missing ? (one ? "which has not called shutdown" : "which have not called shutdown")
                            : (one ? "which still waits for a call" : "which still wait for calls");
      return;
    }
  }

  // A worker that does not come to shutdown, or one that came and still has a call of its own open.
  bool keeps_shutdown(const RankLog& log, bool missing) const {
    if (first_note<notes::RpcJoined>(log) == nullptr) return false;
    const auto any = [&](const auto& holds) { return std::any_of(log.calls.begin(), log.calls.end(), holds); };
    const bool came = any([&](const Call& c) {
      return c.layer == Layer::rpc && c.name == "shutdown" && c.issued <= moment_;
    });
    if (missing || !came) return missing && !came;
    return any([&](const Call& c) {
      return c.layer == Layer::rpc && c.details->rpc.side == RpcSide::caller && is_open_at(c, moment_);
    });
  }

  void any_other(BlockedRank& blocked, std::string why) const {
    blocked.waits_for = everybody_;
    blocked.any = run_.ranks.size() > 2;
    blocked.why = std::move(why);
    if (!blocked.any) blocked.why.replace(0, std::string("none of which").size(), "which never");
  }

  const RunRecord& run_;
  Time moment_;
  GroupIndex groups_;
  Attendance attendance_;
  MessagePairs pairs_;
  std::vector<char> lost_, dumped_;  // by rank
  Ranks everybody_;
  Rank rank_ = 0;  // whose wait is being filled in
  std::size_t listed_ = 0;
  std::map<HubKey, Hub> hubs_;
};

}  // namespace

std::size_t awaited_count(const BlockedRank& blocked) {
  const std::vector<Rank>& list = *blocked.waits_for;
  return list.size() + blocked.unlisted - (std::binary_search(list.begin(), list.end(), blocked.rank) ? 1 : 0);
}

std::vector<Rank> awaited_ranks(const BlockedRank& blocked, std::size_t most) {
  std::vector<Rank> ranks;
  for (const Rank rank : *blocked.waits_for) {
    if (ranks.size() == most) break;
    if (rank != blocked.rank) ranks.push_back(rank);
  }
  return ranks;
}

std::string awaited_text(const BlockedRank& blocked) {
  constexpr std::size_t most = 1024;
  const std::vector<Rank> ranks = awaited_ranks(blocked, most);
  const std::size_t more = awaited_count(blocked) - ranks.size();
  return ranks_text(ranks) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

bool WaitsForOne::operator()(const BlockedRank& blocked) {
  const auto [at, is_new] = known_.try_emplace(&*blocked.waits_for);
  Found& found = at->second;
  if (is_new)
    for (const Rank rank : *blocked.waits_for) {
      if (!std::binary_search(of_.begin(), of_.end(), rank)) continue;
      found.more = found.first != no_rank;
      if (found.more) break;
      found.first = rank;
    }
  return found.first != no_rank && (found.more || found.first != blocked.rank);
}

std::vector<BlockedRank> blocked_ranks(const RunRecord& run, Time moment, bool everyone) {
  std::vector<BlockedRank> all;
  std::vector<std::pair<std::size_t, const Call*>> sitting;
  std::vector<const Call*> asked;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const Call* call = sits_in(run.ranks[r].log, moment);
    if (call == nullptr || (call->layer == Layer::program && !everyone)) continue;
    sitting.emplace_back(r, call);
    asked.push_back(call);
  }
  Waits waits(run, moment, asked);
  for (const auto& [r, call] : sitting) {
    const RankLog& log = run.ranks[r].log;
    BlockedRank blocked;
    blocked.rank = static_cast<Rank>(r);
    const Call* around = call->layer == Layer::store ? enclosing(log, *call) : nullptr;
    blocked.in = around != nullptr ? around->name : call->layer == Layer::store ? call->site.op : call->name;
    blocked.group = call->group;
    blocked.seq = call->seq;
    blocked.step = call->site.step;
    blocked.site = call->site.op;
    blocked.phase = call->site.phase;
    blocked.purpose = call->purpose;
    blocked.since = state_at(log, moment).since.value_or(call->issued);
    blocked.call = call->id;
    waits.fill(blocked, *call);
    all.push_back(std::move(blocked));
  }
  return all;
}

}  // namespace pdsim::scenarios
