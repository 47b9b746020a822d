// Ranks wait for each other in a circle that leads through several process groups: each is in a call of one group, and would
// make the call that another waits in only afterwards.
#include "scenarios/diagnosis/analysis/schedule_difference.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/program_changes.h"
#include "scenarios/diagnosis/rules/waits.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

std::string place_of(const BlockedRank& b) { return fmt::format("{} #{} of group {}", b.in, b.seq, b.group); }

// A program that waits for its whole device before it goes on to the call that another rank needs.
struct HostWait {
  Rank rank = 0;
  const Call* call = nullptr;
};

std::vector<HostWait> host_waits(const Report& report, const std::vector<Rank>& cycle) {
  std::vector<HostWait> found;
  for (const Rank rank : cycle)
    for (const Call& call : log_of(report.run, rank).calls)
      if (call.layer == Layer::program && call.name == "synchronize" && is_open_at(call, moment_of(report.run)))
        found.push_back({rank, &call});
  return found;
}

void tell_host_waits(Diagnosis& d, const Report& report, const std::vector<HostWait>& waits) {
  if (waits.empty()) return;
  std::vector<std::pair<Mark, std::string>> places;
  std::vector<std::string> lines;
  for (const HostWait& wait : waits) {
    const Site& site = wait.call->site;
    add_span(d, report, site.line, site.column, fmt::format("rank {} waits here for its GPU", wait.rank), false);
    d.evidence.push_back(evidence_of(wait.rank, *wait.call, "waits for everything that its GPU was given"));
    places.push_back({mark_of(site), wait.call->name});
    add_once(lines, {std::to_string(site.line)});
  }
  const std::string where = fmt::format("line{} {}", lines.size() == 1 ? "" : "s", list_text(lines));
  d.why += fmt::format(
      " A synchronisation with the GPU between the two calls, at {}, keeps each rank from its second call: the program "
      "waits there for the collective that it has started, which waits for the other rank. A .item(), .tolist(), print "
      "or copy to the host does the same.",
      where);
  d.fix_lines.push_back(
      alternative(fmt::format("start both collectives before the program waits for the GPU ({})", where)));
  d.cures.push_back(left_out(fmt::format("no rank waits for its GPU between the two calls (synchronize at {})", where), places));
}

// By its program a rank never makes a call that the others of one of these groups make: that is missing-call.
bool leaves_call_out(const Report& report, const std::vector<std::string>& groups) {
  const std::optional<ScheduleDifference> apart = schedule_difference(report);
  return apart && apart->moved.empty() && std::find(groups.begin(), groups.end(), apart->group) != groups.end();
}

}  // namespace

std::optional<Diagnosis> group_cycle(const Report& report) {
  const Waits waits = waits_of(report);
  if (waits.cycle.size() < 2) return std::nullopt;
  Diagnosis d;
  std::vector<std::string> groups, places;
  for (const Rank rank : waits.cycle) {
    const auto b =
        std::find_if(waits.blocked.begin(), waits.blocked.end(), [&](const BlockedRank& x) { return x.rank == rank; });
    if (b == waits.blocked.end() || b->seq < 0) return std::nullopt;
    add_once(groups, {b->group});
    places.push_back(fmt::format("rank {} is in {}", rank, place_of(*b)));
    d.ranks.push_back(rank);
    d.evidence.push_back({rank, b->call, fmt::format("in {}, for {}", place_of(*b), awaited_text(*b))});
    d.inevitable_at = std::max(d.inevitable_at, b->since);
    if (const Call* call = call_by_id(log_of(report.run, rank), b->call))
      add_span(d, report, call->site.line, call->site.column, fmt::format("rank {} is here", rank), d.spans.empty());
  }
  if (groups.size() < 2 || leaves_call_out(report, groups)) return std::nullopt;
  const std::vector<HostWait> waits_of_hosts = host_waits(report, d.ranks);
  bool asynchronous = false;
  for (const BlockedRank& b : waits.blocked)
    if (const Call* call = call_by_id(log_of(report.run, b.rank), b.call); call != nullptr && contains(d.ranks, b.rank))
      asynchronous = asynchronous || call->async;
  const std::string ranks = short_ranks(d.ranks), where = list_text(places);
  d.headline = fmt::format("{} wait for each other across groups {}", ranks, list_text(groups));
  d.cause = fmt::format("{} use groups {} in different orders: {}", ranks, list_text(groups), where);
  d.why = fmt::format(
      "Nothing orders the calls of different groups. {}, and each of these calls needs a rank that reaches it only "
      "after its own call, if at all. With asynchronous calls, or if small messages are buffered, the same program may "
      "pass.",
      capitalised(where));
  d.fix = "use the groups in the same order on every rank, for example in the order in which they were created";
  if (report.world.is_dumps()) {
    d.why = fmt::format(
        "Nothing orders the calls of different groups. {}, and each of these calls needs a rank "
        "that is in another one of them.",
        capitalised(where));
    return d;
  }
  d.fix_lines = {
      asynchronous ? "the calls are already asynchronous; they are ordered by the waits between them"
                   : alternative("start both calls with async: true and wait for both afterwards (not with NCCL, where "
                                 "they queue)")};
  tell_host_waits(d, report, waits_of_hosts);
  d.inevitable = fmt::format("since {}: the cycle was closed", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view group_cycle_text =
    R"(The program of a rank that is in two process groups orders their calls. If rank 0 calls first in group a and then in group
b, and rank 1 first in b and then in a, each waits for a rank that is in the other call: a cycle, although each group on its
own sees the right calls in the right order. Tensor-, pipeline- and data-parallel groups overlap like this. Tools that look
at one group at a time report one missing rank in each, and name each rank once as the victim and once as the cause.

How to recognise it: two groups are blocked, and the rank that each of them waits for is blocked in the other.

Fix: one order of groups for all ranks. With NCCL this applies to asynchronous calls too, even on different streams.)";

extern const DiagnosisRow group_cycle_row;
const DiagnosisRow group_cycle_row{390, "group-cycle", "ranks wait for each other in a cycle across process groups",
                                   group_cycle, group_cycle_text};

}  // namespace pdsim::scenarios::diagnoses
