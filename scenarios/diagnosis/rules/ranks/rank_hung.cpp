// A rank stopped, alive and silent, and the others wait for it. Cites the recorded stop.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
std::optional<Diagnosis> rank_hung(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  const Time moment = moment_of(report.run);
  Diagnosis d;
  const Note* first = nullptr;
  std::string where;
  for (const RankResult& result : report.run.ranks) {
    const Note* stop = stop_of(result.log, Time::max());
    if (stop == nullptr || !is_running_at(result.log, std::min(moment, stop->at))) continue;
    if (is_consequence(result.log.error.code) && result.log.ended < stop->at) continue;
    d.ranks.push_back(result.log.rank);
    const Call* in = sits_in(result.log, stop->at);
    d.evidence.push_back(evidence_of(result.log.rank, *stop, fmt::format("stopped at {}", to_string(stop->at))));
    if (first != nullptr && stop->at >= first->at) continue;
    first = stop;
    where = in != nullptr ? fmt::format(" in {}", call_text(*in)) : std::string(" between two calls");
    d.spans.clear();
    const Site& site = in != nullptr ? in->site : stop->site;
    add_span(d, report, site.line, site.column, fmt::format("rank {} stopped here", result.log.rank), true);
  }
  if (first == nullptr) return std::nullopt;
  // A program that went apart before that has another cause.
  if (report.divergence && report.divergence->field != DivergenceKind::missing && report.divergence->at < first->at)
    return std::nullopt;
  std::vector<Rank> waiting;
  for (const BlockedRank& b : report.blocked)
    if (!contains(d.ranks, b.rank)) {
      add_once(waiting, b.rank);
      if (waiting.size() <= 3) d.evidence.push_back({b.rank, b.call, fmt::format("waits in {}", b.in)});
    }
  for (const RankError& e : report.errors)
    if (!contains(d.ranks, e.rank) && (is_timeout(e.code) || is_consequence(e.code))) add_once(waiting, e.rank);
  std::sort(waiting.begin(), waiting.end());
  const std::string culprits = short_ranks(d.ranks);
  d.headline = fmt::format("{} stopped{}", culprits, where);
  d.headline +=
      waiting.empty() ? ", and the job does not end" : fmt::format(", and {} for {}", who(waiting, "waits", "wait"), d.ranks.size() == 1 ? "it" : "them");
  d.cause = fmt::format("{} stopped{} at {} and has done nothing since", culprits, where, to_string(first->at));
  d.why = fmt::format(
      "{}. A process that hangs closes no connection, so the others cannot distinguish it from a slow one: they wait "
      "until a timeout expires, if the backend has one.",
      capitalised(d.cause));
  d.fix = "find out where that process is stuck (py-spy dump, gdb -p) and what it waits for";
  d.fix_lines = {"a monitored barrier before long steps names the missing rank early"};
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: {} stopped", to_string(first->at), culprits);
  return d;
}

constexpr std::string_view rank_hung_text =
    R"(A process is alive and does nothing: it waits for a lock, a data loader, a stuck file system, a debugger, or a device that
does not answer. Its sockets stay open, so to its peers it looks like a slow process.

How to recognise it: all ranks but one are in the same collective, and that one stays outside any collective. Its stack, not
the stacks of the others, shows why.

What happens next depends on the backend: Gloo gives up after its timeout (30 minutes by default), NCCL's watchdog ends the
process after 10, MPI waits forever.

Fix: look at the stack of the silent process. To find it sooner, set a shorter timeout, or call monitored_barrier, which
names the missing ranks.)";

extern const DiagnosisRow rank_hung_row;
const DiagnosisRow rank_hung_row{350, "rank-hung", "a rank stopped, alive and silent, and the others wait for it",
                                 rank_hung, rank_hung_text};

}  // namespace pdsim::scenarios::diagnoses
