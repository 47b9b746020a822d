// All ranks entered a call and some never left it, while others did: they are left behind inside, or one of them ended
// while its part of the work was not done.
#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/group_index.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

// An asynchronous call that was still running when its rank returned.
const Call* abandoned(const RankLog& log) {
  if (log.end != RankEnd::returned) return nullptr;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::collective && call.layer != Layer::point_to_point) continue;
    if (is_unfinished(call) || (call.state == CallState::failed && call.error == Code::cancelled)) return &call;
  }
  return nullptr;
}

std::vector<Rank> victims(const Report& report, Rank culprit, const Call& call) {
  std::vector<Rank> ranks;
  for (const BlockedRank& b : report.blocked)
    if (b.rank != culprit && b.group == call.group) add_once(ranks, b.rank);
  for (const RankError& e : report.errors)
    if (e.rank != culprit && (is_consequence(e.code) || is_timeout(e.code))) add_once(ranks, e.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::optional<Diagnosis> left_undone(const Report& report) {
  for (const RankResult& result : report.run.ranks) {
    const Call* call = abandoned(result.log);
    if (call == nullptr || call->issued > moment_of(report.run)) continue;
    const Rank rank = result.log.rank;
    if (report.divergence && report.divergence->field != DivergenceKind::missing &&
        report.divergence->at <= call->issued)
      continue;
    const std::vector<Rank> waiting = victims(report, rank, *call);
    if (waiting.empty()) continue;
    Diagnosis d;
    const std::string what = name_and_number(*call);
    d.ranks = {rank};
    d.evidence.push_back(evidence_of(rank, *call, fmt::format("{} still ran when the rank ended", what)));
    d.headline = fmt::format("rank {} ended before its {} was done, and {} for it", rank, what,
                             who(waiting, "waited", "waited"));
    d.cause = fmt::format("rank {} started {} and ended at {} without waiting for it", rank, what,
                          to_string(result.log.ended));
    d.why = fmt::format(
        "An asynchronous call returns at once and continues only while its process lives. Rank {} never waited for {} "
        "and ended at {}, and its messages were lost with it. {} depended on that call and could not finish.",
        rank, what, to_string(result.log.ended), capitalised(short_ranks(waiting)));
    d.fix = {"wait for every asynchronous call before the program ends:  wait: {for: label}   (work.wait())",
             "work.wait() for every asynchronous call before the program ends"};
    add_span(d, report, call->site.line, call->site.column,
             fmt::format("rank {} started it here and never waited for it", rank), true);
    d.inevitable_at = result.log.ended;
    d.inevitable = fmt::format("since {}: rank {} had ended", to_string(d.inevitable_at), rank);
    return d;
  }
  return std::nullopt;
}

struct Inside {
  const Call* call = nullptr;
  std::vector<Rank> stuck, left;
};

// Returns the earliest call of each collective that some rank is in; the oldest first.
std::vector<const Call*> collectives_that_wait(const Report& report) {
  std::map<std::pair<std::string_view, Seq>, const Call*> calls;
  for (const BlockedRank& b : report.blocked) {
    const Call* mine = call_by_id(log_of(report.run, b.rank), b.call);
    if (mine == nullptr || mine->layer != Layer::collective || mine->seq < 0) continue;
    const Call*& first = calls.try_emplace({mine->group, mine->seq}, mine).first->second;
    if (mine->issued < first->issued) first = mine;
  }
  std::vector<const Call*> waiting;
  for (const auto& [key, call] : calls) waiting.push_back(call);
  std::stable_sort(waiting.begin(), waiting.end(), [](const Call* a, const Call* b) { return a->issued < b->issued; });
  return waiting;
}

// The first collective that all members entered, some left, and others are still in.
std::optional<Inside> half_left(const Report& report) {
  const Time moment = moment_of(report.run);
  const GroupIndex groups(report.run);
  for (const Call* mine : collectives_that_wait(report)) {
    Inside found{mine, {}, {}};
    bool all_came = true;
    for (const Rank rank : groups.members(mine->group)) {
      const Call* theirs = collective_at(log_of(report.run, rank), mine->group, mine->seq);
      all_came = theirs != nullptr && same_call(*theirs, *mine) && theirs->issued <= moment;
      if (!all_came) break;
      (is_open_at(*theirs, moment) ? found.stuck : found.left).push_back(rank);
    }
    if (all_came && !found.left.empty()) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> missing_exit(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  if (const std::optional<Diagnosis> undone = left_undone(report)) return undone;
  if (!report.run.deadlocked || !report.errors.empty()) return std::nullopt;
  const std::optional<Inside> inside = half_left(report);
  if (!inside) return std::nullopt;
  if (report.divergence && report.divergence->at < inside->call->issued) return std::nullopt;
  Diagnosis d;
  const std::string what = name_and_number(*inside->call);
  d.ranks = inside->stuck;
  for (const Rank rank : inside->stuck) {
    const Call* theirs = collective_at(log_of(report.run, rank), inside->call->group, inside->call->seq);
    if (d.evidence.size() < 4) d.evidence.push_back(evidence_of(rank, *theirs, fmt::format("entered {} and is in it", what)));
    d.inevitable_at = std::max(d.inevitable_at, theirs->issued);
  }
  const Rank one = inside->left.front();
  const Call* done = collective_at(log_of(report.run, one), inside->call->group, inside->call->seq);
  d.evidence.push_back(evidence_of(one, *done, fmt::format("left {} at {}", what, to_string(done->finished))));
  d.headline =
      fmt::format("{} never left {}, which {} left", short_ranks(inside->stuck), what, short_ranks(inside->left));
  d.cause = fmt::format("all ranks of the group entered {}, and {} did not leave it", what, short_ranks(inside->stuck));
  d.why = fmt::format(
      "Every rank of the group made this call with the same arguments. It is over for {}; {} still in it: data from "
      "the others did not arrive, and no record says why. Later calls that need these ranks cannot complete either.",
      short_ranks(inside->left), who(inside->stuck, "is", "are"));
  d.fix = fmt::format("look at the network and the processes of {}; no change to the program helps",
                      short_ranks(inside->stuck));
  d.fix_lines = {"when a collective returns, a rank knows only that its own part is over"};
  add_span(d, report, inside->call->site.line, inside->call->site.column,
           fmt::format("all came here, and {}", who(inside->stuck, "stays", "stay")), true);
  d.inevitable =
      fmt::format("since {}: the last of {} had entered", to_string(d.inevitable_at), short_ranks(inside->stuck));
  return d;
}

constexpr std::string_view missing_exit_text =
    R"(Every rank entered the call, and some never left it. A collective returns on a rank when that rank's own part is done; the
others may still need messages. So ranks that left do not prove that all is well, and the next call that hangs is not the
cause: look at the first call that some ranks have left and others have not.

Two causes are common. If a process starts an asynchronous call (isend, async_op=True) and ends without waiting for it, its
messages are lost with it; its peers report a closed connection, or hang. Or a message to the stuck ranks was lost: a broken
link, a device that stopped.

How to recognise it: sequence numbers and arguments agree, and one call has ended on some ranks and not on others.

Fix: wait for every call that was started before the program ends. Otherwise look at the machines of the stuck ranks, not at
the program.)";

extern const DiagnosisRow missing_exit_row;
const DiagnosisRow missing_exit_row{450, "missing-exit", "all ranks entered a call, and some never left it",
                                    missing_exit, missing_exit_text};

}  // namespace pdsim::scenarios::diagnoses
