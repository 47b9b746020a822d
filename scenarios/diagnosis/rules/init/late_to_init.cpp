#include "scenarios/diagnosis/rules/init/late_to_init.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

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
    d.evidence.push_back(cite(log.rank, *at, fmt::format("was at work in {}", at->name)));
    if (work == nullptr) work = at;
  }
  if (work == nullptr) return std::nullopt;
  const std::string waited = to_string(end - given_up->call->issued);
  d.evidence.push_back(
      cite(given_up->rank, *given_up->call, fmt::format("gave up init_process_group after {}", waited)));
  d.headline = fmt::format("{} gave up init_process_group after {}, while {} still at work in {}",
                           ranks_text(given_up->ranks), waited, who(d.ranks, "was", "were"), work->name);
  d.cause = fmt::format("{} in {} when the timeout of the store expired", who(d.ranks, "was", "were"), work->name);
  d.why = fmt::format(
      "Nobody hung: {}. In init_process_group every rank waits in the store for what the others publish, and the first "
      "call of a "
      "group waits there for what its rank 0 does. That wait ends with the store's timeout, whatever the group's is.",
      d.cause);
  d.fix =
      "do the long work before init_process_group on every rank, or after it, with a barrier whose timeout covers it";
  d.fix_lines = {"world: {timeout: ...}   (init_process_group(timeout=...), which the store takes too)"};
  add_span(d, report, given_up->call->site.line, given_up->call->site.column,
           ranks_text(given_up->ranks) + " waited here", true);
  add_span(d, report, work->site.line, work->site.column, fmt::format("{} here", who(d.ranks, "was", "were")), false);
  d.inevitable_at = end;
  d.inevitable = fmt::format("since {}: the timeout expired", to_string(end));
  return d;
}

}  // namespace pdsim::scenarios::diagnoses
