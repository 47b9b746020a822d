#include "scenarios/diagnosis/rules/messages/messages.h"

#include "core/base/result.h"
#include "core/semantics/library.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::diagnoses {

std::uint64_t tag_of(const Call& call) { return call.details->tag; }

const LibrarySemantics* library_of(const Report& report) {
  std::string name = report.world.name();
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::BackendUsed>(result.log))
      if (note->as<notes::BackendUsed>().group.empty()) name = note->as<notes::BackendUsed>().backend;
  return library_named(name);
}

PairRules pair_rules(const Report& report) {
  return scenarios::pair_rules(report.run, library_named(report.world.name()), moment_of(report.run));
}

RemoteCall remote_call_between(const Report& report, Rank from, Rank to, Time at) {
  for (const auto& [caller, callee] : {std::pair{from, to}, std::pair{to, from}}) {
    if (caller < 0 || static_cast<std::size_t>(caller) >= report.run.ranks.size()) continue;
    for (const Call& call : log_of(report.run, caller).calls)
      if (call.layer == Layer::rpc && call.peer == callee && call.details->rpc.side == RpcSide::caller &&
          call.state != CallState::completed && call.issued <= at)
        return {caller, &call};
  }
  return {};
}

Counterpart counterpart_of(const Report& report, Rank rank, const Call& call) {
  if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= report.run.ranks.size()) return {};
  const PairRules rules = pair_rules(report);
  MessagePairs pairs(report.run, rules);
  if (const Call* met = pairs.met_by(rank, call)) return {met, nullptr};
  for (const Call& theirs : log_of(report.run, call.peer).calls)
    if (could_meet(theirs, rank, call) && theirs.issued <= rules.moment && rules.tags_in(call.group) &&
        tag_of(theirs) != tag_of(call) && pairs.met_by(call.peer, theirs) == nullptr)
      return {nullptr, &theirs};
  return {};
}

namespace {

// The newest collective of the call's group that its rank made before it; null: none. A call that is not in the log stands at its end.
const Call* collective_before(const RankLog& log, const Call& call) {
  const Call* before = nullptr;
  for (const Call& c : log.calls) {
    if (c.id == call.id) break;
    if (c.layer == Layer::collective && c.group == call.group) before = &c;
  }
  return before;
}

// Sends and receives of a rank in one group, from its collective number `since` (-1: from the start) to the next.
template <class Use>
void for_messages_since(const RankLog& log, std::string_view group, Seq since, const Use& use) {
  Seq newest = -1;
  for (const Call& c : log.calls) {
    if (c.group != group) continue;
    if (c.layer == Layer::collective) newest = c.seq;
    if (c.layer == Layer::point_to_point && newest == since) use(c);
  }
}

}  // namespace

DifferingSide side_that_differs(const Report& report, Rank rank, const Call& call) {
  const std::string_view opposite = call.name == "send" ? "recv" : "send";
  const Call* before = collective_before(log_of(report.run, rank), call);
  const Seq since = before == nullptr ? -1 : before->seq;
  std::map<std::pair<Rank, Rank>, std::int64_t> sent;
  std::int64_t mine = 0, theirs = 0;
  for (const RankResult& result : report.run.ranks) {
    const Rank of = result.log.rank;
    bool in_group = false;
    for_messages_since(result.log, call.group, since, [&](const Call& c) {
      in_group = true;
      if (of == rank && c.peer == call.peer)
        mine += c.name == call.name && c.id <= call.id;
      else if (of == call.peer && c.peer == rank)
        theirs += c.name == opposite;
      else if (c.name == "send" && c.state == CallState::completed)
        ++sent[{of, c.peer}];
    });
    if (in_group && result.log.dropped > 0) return {};
  }
  std::int64_t usual = 0;
  for (const auto& [pair, count] : sent) usual = std::max(usual, count);
  if (usual == 0 || (mine == usual) == (theirs == usual)) return {};
  const std::string from = before == nullptr ? std::string() : name_and_number(*before);
  return mine == usual ? DifferingSide{call.peer, theirs, usual, from} : DifferingSide{rank, mine, usual, from};
}

namespace {

// What a rank of a circle of receives did since it began to receive from the peer that it waits for.
struct Rounds {
  Rank rank = 0, next = 0;  // next: waits for it
  const Call* own = nullptr;
  const Call* waiting = nullptr;
  std::int64_t receives = 0;         // from that peer
  std::vector<std::int64_t> sends;   // to `next`, before the first of these receives and between each two
  Mark send{};                       // the place of the newest
};

Rounds rounds_of(const RankLog& log, Rank next, const Call& own, const Call& waiting) {
  Rounds rounds{log.rank, next, &own, &waiting, 0, {0}, {}};
  for (const Call& c : log.calls) {
    if (c.layer != Layer::point_to_point || c.group != own.group) continue;
    if (c.name == "send" && c.peer == next) {
      ++rounds.sends.back();
      rounds.send = mark_of(c.site);
    }
    if (c.name != "recv" || c.peer != own.peer) continue;
    ++rounds.receives;
    if (c.id == own.id) break;
    rounds.sends.push_back(0);
  }
  return rounds;
}

// Empty where not all of the circle are in recv, or a record does not begin at the start.
std::vector<Rounds> rounds_of_circle(const Report& report, const Waits& waits) {
  std::map<Rank, const Call*> open, waiting;  // by the rank that receives; by the rank that it waits for
  for (const Rank rank : waits.cycle) {
    const BlockedRank* b = blocked_at(waits.blocked, rank);
    const Call* call = b == nullptr ? nullptr : call_by_id(log_of(report.run, rank), b->call);
    if (call == nullptr || call->name != "recv" || log_of(report.run, rank).dropped > 0) return {};
    open[rank] = call;
    waiting[call->peer] = call;
  }
  std::vector<Rounds> all;
  for (const auto& [rank, call] : open) {
    if (waiting.count(rank) == 0) return {};
    const Call* other = waiting[rank];
    const auto next = std::find_if(open.begin(), open.end(), [other](const auto& one) { return one.second == other; });
    all.push_back(rounds_of(log_of(report.run, rank), next->first, *call, *other));
  }
  return all;
}

bool is_same_place(const Site& a, const Site& b) {
  return a.line == b.line && a.column == b.column && a.origin->file == b.origin->file;
}

}  // namespace

std::optional<SendLeftOut> send_left_out(const Report& report, const Waits& waits) {
  std::optional<SendLeftOut> found;
  for (const Rounds& rounds : rounds_of_circle(report, waits)) {
    if (rounds.sends.size() < 2) continue;
    const auto last = rounds.sends.end() - 1;
    const auto first = rounds.sends.size() == 2 ? rounds.sends.begin() : rounds.sends.begin() + 1;  // that of the beginning is another one
    const std::int64_t usual = *std::min_element(first, last);
    if (*last >= usual) continue;
    if (found) return std::nullopt;
    found = SendLeftOut{rounds.rank, rounds.next, rounds.own, rounds.waiting, rounds.receives, *last, usual, rounds.send};
  }
  return found;
}

bool receives_are_first(const Report& report, const Waits& waits) {
  const std::vector<Rounds> all = rounds_of_circle(report, waits);
  return !all.empty() && all.front().own->site.line > 0 && std::all_of(all.begin(), all.end(), [&all](const Rounds& rounds) {
    return is_same_place(rounds.own->site, all.front().own->site) &&
           std::accumulate(rounds.sends.begin(), rounds.sends.end(), std::int64_t{0}) == rounds.receives - 1;
  });
}

}  // namespace pdsim::scenarios::diagnoses
