// A rank waits in send or recv and its peer did not make the matching call: it is elsewhere, has ended, used another tag, or
// meant another size.
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/analysis/schedule_difference.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/waits.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/rank_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Unmatched {
  Rank rank = 0;
  const Call* call = nullptr;
  Counterpart other;
  std::string since{};  // the counterpart is missing between this collective and the next
};

// False for what a foreign record names besides its ranks, and for any source.
bool is_of_run(const RunRecord& run, Rank rank) { return rank >= 0 && static_cast<std::size_t>(rank) < run.ranks.size(); }

// The first message call that keeps its rank, or ended it, without a proper counterpart.
std::optional<Unmatched> first_unmatched(const Report& report) {
  std::optional<Unmatched> first;
  const Time moment = moment_of(report.run);
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::point_to_point || !is_of_run(report.run, call.peer) || call.issued > moment) continue;
      if (call.state == CallState::completed && !is_open_at(call, moment)) continue;
      if (first && call.issued >= first->call->issued) continue;
      const Counterpart other = counterpart_of(report, result.log.rank, call);
      if (other.call != nullptr && !differ_in_size(call, *other.call)) continue;
      first = Unmatched{result.log.rank, &call, other};
    }
  return first;
}

// Says what the peer, a rank of the run, did instead; empty if its message may still come.
std::string what_the_peer_did(const Report& report, Rank peer) {
  const RankLog& log = log_of(report.run, peer);
  const Time moment = moment_of(report.run);
  if (!is_running_at(log, moment))
    return log.end == RankEnd::returned ? "had finished its program"
           : is_consequence(log.error.code)
               ? "ended without it"
               : ending_text(log);
  if (!report.run.deadlocked) return {};
  const Call* call = sits_in(log, moment);
  if (call == nullptr && report.hang && log.calls.empty()) return "lists no open call in its dump";
  if (call == nullptr) return outside_of_calls(log);
  if (call->layer == Layer::program)
    return !has_note<notes::Fault>(log) ? std::string() : fmt::format("hung in {}", call->name);
  const std::string seq = call->seq >= 0 ? fmt::format(" #{}", call->seq) : std::string();
  return fmt::format("is in {}{}", call_text(*call), seq);
}

std::string towards(const Call& call) {
  return fmt::format("{} {} rank {}", call.name, call.name == "send" ? "to" : "from", call.peer);
}

// Whether the counterpart may be done and not listed, while the rest of the batch is open.
bool may_be_unlisted(const Report& report, const Unmatched& u) {
  return report.hang && u.call->details->batch >= 0 && log_of(report.run, u.call->peer).dropped > 0;
}

void explain(Diagnosis& d, const Report& report, const Unmatched& u, const std::string& place) {
  const Call& call = *u.call;
  const std::string mine = fmt::format("rank {} is in {}", u.rank, towards(call));
  const std::string wanted = call.name == "send" ? "receive" : "send";
  if (u.other.call != nullptr) {
    d.headline = fmt::format("{} with {} elements of {}, and rank {} has {} of {}", mine, call.count,
                             name_of(call.dtype), call.peer, u.other.call->count, name_of(u.other.call->dtype));
    d.why = "The two calls meet, but their messages have different sizes.";
    d.fix = "give send and recv the same count and dtype";
  } else if (u.other.other_tag != nullptr) {
    d.headline = fmt::format("{} with tag {}, and rank {} {}s with tag {}", mine, tag_of(call), call.peer, wanted,
                             tag_of(*u.other.other_tag));
    d.why = "A message matches only receives with the same tag, so these two never match.";
    d.fix = "use the same tag on both sides";
  } else if (may_be_unlisted(report, u)) {
    d.headline = fmt::format("{}, in a batch, for which rank {} lists no open {}; it {}", mine, call.peer, wanted, place);
    d.why = fmt::format(
        "The calls of a batch end together. The record of rank {} does not list all of its calls, so it may have made "
        "this one, and another message of the batch may be missing.",
        call.peer);
    d.fix = "compare the messages of this batch with those of the ranks that it names: each needs its counterpart";
  } else {
    d.headline = fmt::format("{}, which did not {} it and {}", mine, wanted, place);
    d.why = fmt::format(
        "send and recv pair up one to one, in order, per pair of ranks and tag. {} has made fewer {} rank {} than rank "
        "{} has made {} it.",
        u.since.empty() ? fmt::format("Rank {}", call.peer) : fmt::format("Since {}, rank {}", u.since, call.peer),
        call.name == "send" ? "receives from" : "sends to", u.rank, u.rank,
        call.name == "send" ? "sends to" : "receives from");
    const bool goes_on = sits_in(log_of(report.run, call.peer), moment_of(report.run)) != nullptr;
    d.fix = goes_on || !report.hang
                ? fmt::format("let rank {} {} this message before it goes on, or leave the {} out", call.peer, wanted,
                              call.name)
                : fmt::format("find out what keeps rank {} from its {} of this message; if it is not meant to make it, "
                              "leave the {} out",
                              call.peer, wanted, call.name);
  }
  d.cause = d.headline;
  for (const Call* theirs : {u.other.call, u.other.other_tag})
    if (theirs != nullptr) {
      d.evidence.push_back(
          evidence_of(call.peer, *theirs,
               fmt::format("{}, {} elements, tag {}", towards(*theirs), theirs->count, tag_of(*theirs))));
      add_span(d, report, theirs->site.line, theirs->site.column, fmt::format("rank {} is here", call.peer), false);
    }
}

// Gloo's messages are not recorded. Where most ranks of a group are in no recorded call, and a few that have sent or received messages wait for
// them in a collective, those few have left the messages that the others still wait in.
std::optional<Diagnosis> left_messages(const Report& report) {
  const Hang& hang = *report.hang;
  const Call* call = hang.end == HangEnd::absent ? common_call(report, hang.nearest) : nullptr;
  if (call == nullptr) return std::nullopt;
  const std::vector<Rank> here = ranks_in(report, hang.nearest, *call);
  const auto lists_nothing = [&](Rank r) {
    return log_of(report.run, r).calls.empty() && progress_in(log_of(report.run, r), call->group) == nullptr;
  };
  const Note* dump = first_note<notes::Dumped>(log_of(report.run, here.front()));
  const int messages = dump == nullptr ? 0 : dump->as<notes::Dumped>().messages;
  if (messages == 0 || here.size() >= hang.ends.size() ||
      !std::all_of(hang.ends.begin(), hang.ends.end(), lists_nothing))
    return std::nullopt;
  Diagnosis d;
  d.ranks = here;
  d.waiting = hang.ends;
  d.headline = fmt::format("{} in {}{} after {} sends and receives, and {} in no recorded call", who(here, "is", "are"),
                           name_and_number(*call), at_place(*call), messages, who(hang.ends, "is", "are"));
  d.cause = fmt::format("{} continued to {} while the others are still in their messages, or outside any call",
                        short_ranks(here), name_and_number(*call));
  d.why = fmt::format(
      "Gloo's Flight Recorder does not list sends and receives; it only counts them. {} made {} and then called {}, "
      "which {} have not reached: they list no collective at all. As most ranks have not reached it, the likeliest "
      "cause is that {} left out a send or a receive that one of them waits for. The dumps alone do not prove it.{}",
      capitalised(short_ranks(here)), messages, number_and_group(*call), short_ranks(hang.ends), short_ranks(here),
      age_sentence(report));
  d.fix =
      fmt::format("compare the sends and receives of {} with those of its peers: each needs its counterpart before {}",
                  short_ranks(here), name_and_number(*call));
  d.next = look_at(report, hang.ends);
  d.evidence.push_back(
      evidence_of(here.front(), *call, fmt::format("waits in {} after {} messages", number_and_group(*call), messages)));
  d.inevitable_at = call->issued;
  return d;
}

// Two calls that fit and still wait for each other.
void explain_order(Diagnosis& d, const Hang& hang, Rank rank, const Call& call) {
  d.headline = fmt::format("{} wait for each other: rank {} is in {}, and its peer reaches that message only after its "
                           "current call",
                           short_ranks(hang.ends), rank, towards(call));
  d.cause = d.headline;
  d.why =
      "Calls that were not made in one batch progress in their order, so a rank cannot handle a message before the "
      "call in front of it is done.";
  d.fix =
      "put the sends and receives that belong together into one batch_isend_irecv, or make them in matching order on "
      "both sides";
}

// In a circle one of two sides is to blame: the one whose number of messages differs from that of the other pairs, else
// the one that went on to a collective; where neither says it, both.
void blame_a_side(Diagnosis& d, const Report& report, const Unmatched& u) {
  const DifferingSide side = side_that_differs(report, u.rank, *u.call);
  const Call* sits = sits_in(log_of(report.run, u.call->peer), moment_of(report.run));
  if (side.rank != no_rank) {
    d.ranks = {side.rank};
    d.why += fmt::format(" {} no other two ranks of the group have exchanged more than {} messages in one direction, the "
                         "same number as rank {} made here; rank {} made {}.",
                         side.since.empty() ? "In this record" : "Since " + side.since, side.usual,
                         side.rank == u.rank ? u.call->peer : u.rank, side.rank, side.made);
  } else if (sits != nullptr && sits->layer == Layer::collective) {
    d.ranks = {u.call->peer};
  } else {
    d.ranks = {std::min(u.rank, u.call->peer), std::max(u.rank, u.call->peer)};
  }
  std::copy_if(report.hang->ends.begin(), report.hang->ends.end(), std::back_inserter(d.waiting),
               [&](Rank r) { return !contains(d.ranks, r); });
  std::sort(d.waiting.begin(), d.waiting.end());
}

std::optional<Diagnosis> explained_in_dump(const Report& report, const Unmatched& u, bool fits) {
  const Hang& hang = *report.hang;
  const Call& call = *u.call;
  const std::string place = what_the_peer_did(report, call.peer);
  if (u.other.call == nullptr && place.empty()) return std::nullopt;
  Diagnosis d;
  d.ranks = hang.ends;
  d.waiting = hang.waiting;
  d.evidence.push_back(evidence_of(u.rank, call, fmt::format("{}, {} elements", towards(call), call.count)));
  if (fits) {
    explain_order(d, hang, u.rank, call);
  } else {
    explain(d, report, u, place);
    if (hang.end == HangEnd::circle && u.other.call == nullptr) blame_a_side(d, report, u);
    d.next = look_at(report, d.ranks);
  }
  d.why += age_sentence(report);
  d.inevitable_at = call.issued;
  return d;
}

// A counterpart that the peer made behind the collective in which it waits is that of a later message, where the numbers say that one
// before the collective is missing.
Unmatched unmatched_here(const Report& report, Rank rank, const Call& call) {
  Unmatched u{rank, &call, counterpart_of(report, rank, call)};
  const Call* sits = sits_in(log_of(report.run, call.peer), moment_of(report.run));
  if (u.other.call == nullptr || sits == nullptr || sits->layer != Layer::collective || sits->group != call.group ||
      u.other.call->id < sits->id)
    return u;
  const DifferingSide side = side_that_differs(report, rank, call);
  if (side.rank != call.peer) return u;
  u.other = {};
  u.since = side.since;
  return u;
}

// The message call that a rank sits in, with those of its batch, towards the ends of the hang. Those that meet a call of their size come last,
// and at most `most` of either kind are kept: what follows walks over all calls for each.
struct OpenMessages {
  static constexpr std::size_t most = 64;
  std::vector<Unmatched> alone, met;
};
void add_open_messages(const Report& report, Rank rank, MessagePairs& pairs, OpenMessages& found) {
  const BlockedRank* b = blocked_at(report.blocked, rank);
  const Call* sits = b == nullptr ? nullptr : call_by_id(log_of(report.run, rank), b->call);
  if (sits == nullptr) return;
  for (const Call& call : log_of(report.run, rank).calls) {
    const std::int64_t batch = sits->details->batch;
    const bool together = call.id == sits->id || (batch >= 0 && call.details->batch == batch);
    const bool is_open = together && call.layer == Layer::point_to_point && is_open_at(call, moment_of(report.run));
    if (!is_open || !contains(report.hang->ends, call.peer) || !b->awaits(call.peer)) continue;
    const Call* other = pairs.met_by(rank, call);
    std::vector<Unmatched>& kind = other == nullptr || differ_in_size(call, *other) ? found.alone : found.met;
    if (kind.size() < OpenMessages::most) kind.push_back(unmatched_here(report, rank, call));
  }
}

// A call without its counterpart explains more than two that came in the wrong order, most where the numbers say which
// side differs.
int weight(const Report& report, const Unmatched& u) {
  if (u.other.call != nullptr && !differ_in_size(*u.call, *u.other.call)) return 0;
  return u.other.call == nullptr && side_that_differs(report, u.rank, *u.call).rank != no_rank ? 2 : 1;
}

// In a dump: the waits end with ranks that did not make a message call that another one needs.
std::optional<Diagnosis> unmatched_in_dump(const Report& report) {
  if (std::optional<Diagnosis> left = left_messages(report)) return left;
  const Hang& hang = *report.hang;
  const bool is_end = hang.end == HangEnd::absent || hang.end == HangEnd::in_call || hang.end == HangEnd::circle;
  if (!is_end || (hang.end == HangEnd::absent && common_call(report, hang.nearest) != nullptr)) return std::nullopt;
  OpenMessages open;
  MessagePairs pairs(report.run, pair_rules(report));
  for (const Rank rank : hang.nearest) add_open_messages(report, rank, pairs, open);
  open.alone.insert(open.alone.end(), open.met.begin(), open.met.end());
  std::vector<std::pair<int, Unmatched>> weighed;
  for (const Unmatched& u : open.alone) weighed.emplace_back(weight(report, u), u);
  std::stable_sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [weight, u] : weighed) {
    if (weight == 0 && hang.end != HangEnd::circle) continue;
    if (std::optional<Diagnosis> d = explained_in_dump(report, u, weight == 0)) return d;
  }
  return std::nullopt;
}

}  // namespace

namespace {

void tell_left_out(Diagnosis& d, const Report& report, const SendLeftOut& left) {
  const std::string sends = left.made == 0 ? fmt::format("without a send to rank {}", left.next)
                                           : fmt::format("with {} of {} sends to rank {}", left.made, left.usual, left.next);
  const std::string what = fmt::format("rank {} came to its receive #{} from rank {} {}", left.rank, left.receives, left.own->peer, sends);
  d.ranks = {left.rank};
  d.headline = fmt::format("{}, which waits for it", what);
  d.cause = what;
  d.why = fmt::format(
      "send and recv pair up one to one, in order, per pair of ranks and tag. {}; {} it made {}. Rank {} waits for that message, and the "
      "other ranks of the circle for what comes after it.",
      capitalised(what), left.receives > 2 ? "between each two earlier ones" : "before its first one",
      left.usual == 1 ? "one" : std::to_string(left.usual), left.next);
  d.fix = fmt::format("let rank {} send to rank {} before it receives again, on every path", left.rank, left.next);
  d.evidence.push_back(evidence_of(left.rank, *left.own, fmt::format("{}, {}", towards(*left.own), sends)));
  add_span(d, report, left.own->site.line, left.own->site.column, fmt::format("rank {} receives again {}", left.rank, sends), false);
  if (left.send.line <= 0) return;
  add_span(d, report, left.send.line, left.send.column, fmt::format("its send to rank {}", left.next), false);
  Cure cure = in_every_round(fmt::format("rank {} makes the send at line {} in every round", left.rank, left.send.line), left.send);
  cure.is_fix = false;
  d.cures.push_back(std::move(cure));
}

// A rank that others wait for, directly or through their messages, sits in a collective that not all programs make, or behind one: that is
// missing-call, and the messages are what follows.
bool waits_behind_left_out_call(const Report& report, Rank rank) {
  const std::optional<ScheduleDifference> apart = schedule_difference(report);
  if (!apart) return false;
  const Seq since = apart->met ? apart->met->mine->seq : apart->first->seq;
  for (std::size_t steps = 0; steps < report.run.ranks.size() && is_of_run(report.run, rank); ++steps) {
    const RankLog& log = log_of(report.run, rank);
    const Call* sits = is_running_at(log, moment_of(report.run)) ? sits_in(log, moment_of(report.run)) : nullptr;
    if (sits == nullptr) return false;
    if (sits->layer == Layer::collective) return sits->group == apart->group && sits->seq >= since;
    if (sits->layer != Layer::point_to_point) return false;
    rank = sits->peer;
  }
  return false;
}

// A rank that receives from any other waits for those that have sent it fewer messages than most.
struct AnySource {
  Rank receiver = no_rank;
  const Call* call = nullptr;
  std::vector<Rank> silent;  // sent fewer, and do not wait for the receiver
  std::int64_t sent = 0, usual = 0;
};
std::optional<AnySource> silent_to_any(const Report& report, Rank receiver) {
  const Time moment = moment_of(report.run);
  AnySource found{receiver, sits_in(log_of(report.run, receiver), moment), {}};
  if (found.call == nullptr || found.call->name != "recv" || is_of_run(report.run, found.call->peer)) return std::nullopt;
  std::vector<std::pair<Rank, std::int64_t>> counts;
  for (const RankResult& result : report.run.ranks) {
    const Rank rank = result.log.rank;
    if (result.log.dropped > 0) return std::nullopt;
    const std::int64_t sent = std::count_if(result.log.calls.begin(), result.log.calls.end(), [&](const Call& c) {
      return c.layer == Layer::point_to_point && c.name == "send" && c.peer == receiver && c.group == found.call->group;
    });
    if (rank != receiver && sent > 0) counts.emplace_back(rank, sent);
    found.usual = std::max(found.usual, rank == receiver ? 0 : sent);
  }
  for (const auto& [rank, sent] : counts) {
    if (sent == found.usual) continue;
    const Call* sits = sits_in(log_of(report.run, rank), moment);
    if (sits != nullptr && sits->layer == Layer::point_to_point && sits->peer == receiver) continue;
    if (found.silent.empty()) found.sent = sent;
    if (sent == found.sent) found.silent.push_back(rank);
  }
  return found.silent.empty() ? std::nullopt : std::optional(std::move(found));
}

Diagnosis explained_by_silence(const Report& report, const Unmatched& u, const AnySource& any) {
  const Rank silent = any.silent.front();
  const std::string place = what_the_peer_did(report, silent);
  const std::string ranks = short_ranks(any.silent), messages = fmt::format("{} message{}", any.sent, any.sent == 1 ? "" : "s");
  Diagnosis d;
  d.ranks = any.silent;
  d.headline = fmt::format("rank {} waits in a recv from any rank, and {} sent it only {}, {} than others, and {}", any.receiver, ranks,
                           messages, any.usual - any.sent == 1 ? "one fewer" : fmt::format("{} fewer", any.usual - any.sent), place);
  if (any.silent.size() > 1 || place.empty()) d.headline = d.headline.substr(0, d.headline.rfind(", and "));
  d.cause = d.headline;
  d.why = fmt::format("A receive from any source waits until some rank sends. Of the ranks that send to rank {}, others have sent {}. Rank {} "
                      "is in {}; it comes to its next send only after rank {} has received.",
                      any.receiver, any.usual, u.rank, towards(*u.call), any.receiver);
  d.fix = fmt::format("let {} send in every round, or tell rank {} with a last message that no more will come", ranks, any.receiver);
  d.evidence.push_back(evidence_of(any.receiver, *any.call, "waits for a message from any rank"));
  add_span(d, report, any.call->site.line, any.call->site.column, fmt::format("rank {} waits for any rank", any.receiver), true);
  const RankLog& log = log_of(report.run, silent);
  for (auto call = log.calls.rbegin(); call != log.calls.rend(); ++call)
    if (call->layer == Layer::point_to_point && call->name == "send" && call->peer == any.receiver) {
      d.evidence.push_back(evidence_of(silent, *call, fmt::format("its last send to rank {}", any.receiver)));
      add_span(d, report, call->site.line, call->site.column, fmt::format("the last send of rank {} here was its send #{}", silent, any.sent), false);
      break;
    }
  d.inevitable_at = any.call->issued;
  d.inevitable = fmt::format("since {}: rank {} waits in recv from any rank", to_string(d.inevitable_at), any.receiver);
  return d;
}

}  // namespace

std::optional<Diagnosis> unmatched_message(const Report& report) {
  if (report.hang) return unmatched_in_dump(report);
  if (report.outcome == Outcome::ok) return std::nullopt;
  const Waits waits = waits_of(report);
  std::optional<Unmatched> u = first_unmatched(report);
  const std::optional<SendLeftOut> left = send_left_out(report, waits);
  if (u && left) u = Unmatched{left->next, left->waiting, {}};
  if (!u) return std::nullopt;
  // An earlier divergence explains more.
  if (report.divergence && report.divergence->field != DivergenceKind::missing &&
      report.divergence->at < u->call->issued)
    return std::nullopt;
  const bool met = u->other.call != nullptr || u->other.other_tag != nullptr;
  if (!met && waits_behind_left_out_call(report, u->call->peer)) return std::nullopt;
  if (const std::optional<AnySource> any = met ? std::nullopt : silent_to_any(report, u->call->peer))
    return explained_by_silence(report, *u, *any);
  const std::string place = what_the_peer_did(report, u->call->peer);
  if (!met && place.empty() && !left) return std::nullopt;
  Diagnosis d;
  d.ranks = {u->rank, u->call->peer};
  d.evidence.push_back(evidence_of(
      u->rank, *u->call, fmt::format("{}, {} elements, tag {}", towards(*u->call), u->call->count, tag_of(*u->call))));
  add_span(d, report, u->call->site.line, u->call->site.column,
           fmt::format("rank {} waits for rank {}", u->rank, u->call->peer), true);
  explain(d, report, *u, place);
  if (left) tell_left_out(d, report, *left);
  d.inevitable_at = u->call->issued;
  if (const Call* sits = sits_in(log_of(report.run, u->call->peer), moment_of(report.run)))
    d.inevitable_at = std::max(d.inevitable_at, sits->issued);
  d.inevitable = fmt::format("since {}: rank {} waits in {}", to_string(d.inevitable_at), u->rank, towards(*u->call));
  return d;
}

constexpr std::string_view unmatched_message_text =
    R"(send and recv name one peer, and pair up one to one: the n-th send of a rank to a peer with some tag meets that peer's n-th
receive from it with the same tag. A call without a counterpart waits until its timeout. Common reasons: a loop that runs
once more on one side, a branch that only one side takes, a swapped tag, or a collective on one side, in which the peer
of the waiting rank is stuck.

A send may seem to work although nobody receives: MPI and an ideal network buffer small messages. When the two sides pass
different sizes, Gloo ends the receiver's process, and MPI reports a truncated message. NCCL does not check: on an H100 with
NCCL 2.28 over sockets, messages up to 128 KiB hung where the receive was smaller, and completed with wrong data behind
what was sent where it was larger; from 256 KiB on it was the reverse. The simulator does what the small ones did.

How to recognise it: one rank is in send or recv, and its peer is neither in the opposite call nor on its way to it.

Fix: for every send a recv with the same peers, tag, count and dtype, in an order in which neither side waits for the
other.)";

extern const DiagnosisRow unmatched_message_row;
const DiagnosisRow unmatched_message_row{380, "unmatched-message",
                                         "a rank waits in send or recv for a peer that did not make the matching call",
                                         unmatched_message, unmatched_message_text};

}  // namespace pdsim::scenarios::diagnoses
