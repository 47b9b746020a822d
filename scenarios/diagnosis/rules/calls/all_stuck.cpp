// Every rank is in the same call, nothing differs, and nobody recorded what is missing.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

const BlockedRank* all_are_there(const Report& report) {
  if (!report.run.deadlocked || report.divergence || report.blocked.empty()) return nullptr;
  const BlockedRank& first = report.blocked.front();
  if (first.seq < 0) return nullptr;
  const bool same = std::all_of(report.blocked.begin(), report.blocked.end(), [&](const BlockedRank& b) {
    return b.seq == first.seq && b.group == first.group && b.in == first.in;
  });
  return same && report.errors.empty() && report.blocked.size() > 1 ? &first : nullptr;
}

}  // namespace

namespace {

// In a dump: the device of every rank works on the call, or the call is old. No rank can be named.
std::optional<Diagnosis> stuck_in_dump(const Report& report) {
  const bool is_end = report.hang->end == HangEnd::nobody || report.hang->end == HangEnd::in_call;
  const std::vector<Rank>& sitting = report.hang->end == HangEnd::nobody ? report.hang->nearest : report.hang->ends;
  const Call* call = is_end ? common_call(report, sitting) : nullptr;
  if (call == nullptr) return std::nullopt;
  std::vector<Rank> everybody;
  for (const BlockedRank& b : report.blocked) everybody.push_back(b.rank);
  const std::vector<Rank> ranks = ranks_in(report, everybody, *call);
  if (ranks.size() < 2) return std::nullopt;
  Diagnosis d;
  d.waiting = report.hang->end == HangEnd::nobody ? ranks : report.hang->waiting;
  for (const Rank rank : ranks) add_once(d.waiting, rank);
  std::sort(d.waiting.begin(), d.waiting.end());
  d.headline = fmt::format("{} in {}, which does not complete", who(ranks, "is", "are all"), name_and_number(*call));
  d.cause = fmt::format("every rank of its group called {}, but it does not complete", number_and_group(*call));
  d.why = fmt::format(
      "Every rank of group {} has called {}{}{}{}. The problem is below the program: a message, a link or a device.{}",
      call->group, name_and_number(*call), at_place(*call), call->state == CallState::started ? " and started it" : "",
      report.findings.empty() ? ", and the records agree up to it" : "", age_sentence(report));
  d.fix =
      "check the network between these ranks and their devices (NCCL_DEBUG=INFO, the kernel's log for Xid errors); the "
      "calls of the ranks agree";
  d.fix_lines = {"if the job was running well when the dumps were written, nothing is wrong"};
  d.evidence.push_back(evidence_of(ranks.front(), *call, fmt::format("is in {}", name_and_number(*call))));
  d.inevitable_at = call->issued;
  return d;
}

}  // namespace

std::optional<Diagnosis> all_stuck(const Report& report) {
  if (report.hang && report.hang->end != HangEnd::circle) return stuck_in_dump(report);
  const BlockedRank* in = all_are_there(report);
  if (in == nullptr) return std::nullopt;
  Diagnosis d;
  Time last{};
  for (const BlockedRank& b : report.blocked) {
    d.ranks.push_back(b.rank);
    last = std::max(last, b.since);
    if (d.evidence.size() < 4) d.evidence.push_back({b.rank, b.call, fmt::format("is in {} #{}", b.in, b.seq)});
  }
  d.headline = fmt::format("{} are all in {} #{}, which does not complete", short_ranks(d.ranks), in->in, in->seq);
  d.cause = fmt::format("messages of {} #{} between {} never arrived", in->in, in->seq, short_ranks(d.ranks));
  d.why =
      "Every rank made this call, with the same arguments and in the same order, so the program is not at fault. A "
      "message is missing: the network lost it, a firewall blocks it, or a process stopped inside the call.";
  d.fix = "repair the network between these ranks; no change to the program helps";
  d.fix_lines = {"collectives do not retransmit: a lost message stays lost until the group is rebuilt"};
  if (const Call* call = call_by_id(log_of(report.run, in->rank), in->call))
    add_span(d, report, call->site.line, call->site.column, "every rank arrived here", true);
  d.inevitable_at = last;
  d.inevitable = fmt::format("since {}: the last rank had arrived", to_string(last));
  return d;
}

constexpr std::string_view all_stuck_text =
    R"(All ranks of the group are in the same call, with the same sequence number and the same arguments, and it does not end. This
is not a bug in the program: all ranks agree. Something below them failed: the network lost a message, a firewall blocks two
interfaces (often noticed in the first call over a new interface), or a device or a process stopped inside the call.

How to recognise it: no rank is behind, no rank is ahead, nothing differs. Compare with message-lost, where the loss itself
was recorded, with rank-hung, where one process is known to have stopped, and with missing-exit, where some ranks have left
the call.

Fix: check that every pair of ranks can reach each other over the interface that the backend chose (GLOO_SOCKET_IFNAME,
NCCL_SOCKET_IFNAME), then restart all ranks.)";

extern const DiagnosisRow all_stuck_row;
const DiagnosisRow all_stuck_row{460, "all-stuck",
                                 "every rank is in the same call with the same arguments, and it does not end", all_stuck,
                                 all_stuck_text};

}  // namespace pdsim::scenarios::diagnoses
