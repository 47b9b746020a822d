#include "scenarios/diagnosis/rules/init/late_to_init.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

struct GaveUp {
  Rank rank = 0;               // the first
  const Call* call = nullptr;  // its init
  std::vector<Rank> ranks;     // all
};

const Call* init_of(const RankLog& log) {
  for (const Call& call : log.calls)
    if (call.layer == Layer::program && call.name == "init_process_group") return &call;
  return nullptr;
}

std::optional<GaveUp> first_to_give_up(const Report& report) {
  std::optional<GaveUp> first;
  std::vector<Rank> ranks;
  for (const RankResult& result : report.run.ranks) {
    const Call* init = init_of(result.log);
    if (init == nullptr || init->state != CallState::failed || !is_timeout(init->error)) continue;
    ranks.push_back(result.log.rank);
    if (!first || init->finished < first->call->finished) first = GaveUp{result.log.rank, init, {}};
  }
  if (first) first->ranks = std::move(ranks);
  return first;
}

}  // namespace

std::optional<Diagnosis> late_to_init(const Report& report) {
  const std::optional<GaveUp> given_up = first_to_give_up(report);
  if (!given_up) return std::nullopt;
  const Time end = given_up->call->finished;
  Diagnosis d;
  const Call* work = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    const Call* init = init_of(log);
    if (init != nullptr && init->issued <= end) continue;
    const Call* at = is_running_at(log, end) ? sits_in(log, end) : nullptr;
    if (at == nullptr || at->layer != Layer::program) return std::nullopt;  // gone, or held: that is the cause
    d.ranks.push_back(log.rank);
    d.evidence.push_back(evidence_of(log.rank, *at, fmt::format("was at work in {}", at->name)));
    if (work == nullptr) work = at;
  }
  if (work == nullptr) return std::nullopt;
  const std::string waited = to_string(end - given_up->call->issued);
  d.evidence.push_back(
      evidence_of(given_up->rank, *given_up->call, fmt::format("gave up init_process_group after {}", waited)));
  d.headline = fmt::format("{} gave up init_process_group after {}, while {} still at work in {}",
                           short_ranks(given_up->ranks), waited, who(d.ranks, "was", "were"), work->name);
  d.cause = fmt::format("{} in {} when the timeout of the store expired", who(d.ranks, "was", "were"), work->name);
  d.why = fmt::format(
      "No rank hung: {}. In init_process_group every rank waits for keys that the others set in the store, and the "
      "first call of a group waits there for its rank 0. That wait ends with the store's timeout, whatever the group's "
      "timeout is.",
      d.cause);
  d.fix =
      "do the long work before init_process_group on every rank, or after it, followed by a barrier whose timeout "
      "covers it";
  d.fix_lines = {
      alternative("world: {timeout: ...}   (init_process_group(timeout=...), which the store uses too)",
                  "init_process_group(..., timeout=timedelta(...)) longer than that, which the store uses too")};
  add_span(d, report, given_up->call->site.line, given_up->call->site.column,
           short_ranks(given_up->ranks) + " waited here", true);
  add_span(d, report, work->site.line, work->site.column, fmt::format("{} here", who(d.ranks, "was", "were")), false);
  d.inevitable_at = end;
  d.inevitable = fmt::format("since {}: the timeout expired", to_string(end));
  return d;
}

std::optional<Diagnosis> absent_from_init(const Report& report) {
  Diagnosis d;
  const Call* waits = nullptr;
  Time last{};
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    const Call* init = init_of(log);
    if (init == nullptr && log.end == RankEnd::returned && log.launch == 1) {
      d.ranks.push_back(log.rank);
      last = std::max(last, log.ended);
    } else if (init != nullptr && init->state != CallState::completed &&
               (init->state != CallState::failed || is_timeout(init->error))) {
      d.waiting.push_back(log.rank);
      if (waits == nullptr) waits = init;
    }
  }
  if (waits == nullptr || d.ranks.empty()) return std::nullopt;
  const Rank absent = d.ranks.front();
  d.evidence.push_back(evidence_of(d.waiting.front(), *waits, "waits in init_process_group"));
  d.evidence.push_back({absent, -1, "ended without calling init_process_group"});
  d.headline = fmt::format("{} in init_process_group for {}, which never called it",
                           who(d.waiting, "waits", "wait"), short_ranks(d.ranks));
  d.cause = fmt::format("{} its program without calling init_process_group", who(d.ranks, "ended", "ended"));
  d.why = fmt::format(
      "init_process_group returns when all {} ranks have met in the store. {} without joining, and nothing tells the "
      "others, which wait for the address of rank {} until the store's timeout.",
      report.run.ranks.size(), capitalised(who(d.ranks, "has ended", "have ended")), absent);
  d.fix = "let every rank call init_process_group, or start only the ranks that call it";
  d.fix_lines = {"look for an early return or an `if rank ...` before it"};
  add_span(d, report, waits->site.line, waits->site.column,
           fmt::format("{} here for {}", who(d.waiting, "waits", "wait"), short_ranks(d.ranks)), true);
  d.inevitable_at = last;
  d.inevitable = fmt::format("since {}: {} without init_process_group", to_string(last),
                             who(d.ranks, "has ended", "have ended"));
  return d;
}

}  // namespace pdsim::scenarios::diagnoses
