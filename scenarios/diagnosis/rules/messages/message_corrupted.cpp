// A result was wrong although all ranks called the same: a message was changed on its way. Cites the recorded change.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

std::string closes_the_connection(std::string_view reader) {
  return fmt::format(
      "{} could not read the message and closed the connection, because no later data on it can be trusted. Calls "
      "between the two workers end with `eof`, and a graceful shutdown is no longer possible.",
      reader);
}

// Explains the effect of a changed message of a remote call: its receiver cannot trust the connection any more.
void explain_remote_call(Diagnosis& d, const Report& report, Rank to, const RemoteCall& remote) {
  const Call& call = *remote.call;
  const std::string asks = worker_name_of(report.run, remote.caller), reader = worker_name_of(report.run, to);
  const std::string message = to == remote.caller ? "reply" : "request";
  d.evidence.push_back(evidence_of(remote.caller, call, fmt::format("{} was under way", call.name)));
  d.headline = fmt::format("the {} of {}'s {} of {} was changed on its way to {} (rank {})", message, asks, call.name,
                           call.details->rpc.function, reader, to);
  d.why = closes_the_connection(reader);
  d.spans.clear();
  add_span(d, report, call.site.line, call.site.column, fmt::format("the call whose {} was changed", message), true);
}

// A message that the agents of two workers exchange for themselves, as in shutdown.
void explain_agents(Diagnosis& d, const Report& report, Rank from, Rank to, const RankLog& log) {
  d.headline = fmt::format("a message from rank {} to rank {} was changed on its way, and {} could not read it", from, to,
                           worker_name_of(report.run, to));
  d.why = closes_the_connection(worker_name_of(report.run, to));
  d.spans.clear();
  add_span(d, report, log.error_site.line, log.error_site.column, "the message was read in this call", true);
}

}  // namespace

std::optional<Diagnosis> message_corrupted(const Report& report) {
  const auto wrong = std::find_if(report.errors.begin(), report.errors.end(),
                                  [](const RankError& e) { return e.code == Code::wrong_data; });
  if (wrong == report.errors.end() || (report.divergence && report.divergence->field != DivergenceKind::missing))
    return std::nullopt;
  const Note* change = nullptr;
  Rank from = 0;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::Fault>(result.log))
      if (note->as<notes::Fault>().fault == FaultKind::corrupt && note->at <= wrong->at &&
          (change == nullptr || note->at < change->at))
        change = note, from = result.log.rank;
  if (change == nullptr) return std::nullopt;
  Diagnosis d;
  const Rank to = change->as<notes::Fault>().to;
  std::vector<Rank> seen;
  for (const RankError& e : report.errors)
    if (e.code == Code::wrong_data) add_once(seen, e.rank);
  std::sort(seen.begin(), seen.end());
  d.ranks = {from, to};
  d.evidence.push_back(evidence_of(from, *change, fmt::format("a message to rank {} was changed on its way", to)));
  const RankLog& log = log_of(report.run, wrong->rank);
  d.evidence.push_back({wrong->rank, log.calls.empty() ? -1 : log.calls.back().id, wrong->message});
  d.headline = fmt::format("a message from rank {} to rank {} was changed on its way, and {} a wrong result", from, to,
                           who(seen, "has", "have"));
  d.cause = fmt::format("the message from rank {} to rank {} at {} arrived with different bytes", from, to,
                        to_string(change->at));
  d.why = fmt::format(
      "All ranks made the same calls. One message arrived with different bytes than were sent, and the reduction "
      "spread them: {} noticed only because the result is checked here. A training job would have continued with them.",
      short_ranks(seen));
  d.fix = "look for faulty memory or network hardware on the nodes of these ranks";
  d.fix_lines = {alternative("compare a checksum of the parameters across ranks every few hundred steps")};
  add_span(d, report, log.error_site.line, log.error_site.column, "this call returned the wrong result", true);
  d.inevitable_at = change->at;
  d.inevitable = fmt::format("since {}: the message was changed", to_string(change->at));
  if (const RemoteCall remote = remote_call_between(report, from, to, change->at); remote.call != nullptr)
    explain_remote_call(d, report, to, remote);
  else if (!log.calls.empty() && log.calls.back().layer == Layer::rpc)
    explain_agents(d, report, from, to, log);
  return d;
}

constexpr std::string_view message_corrupted_text =
    R"(A collective's result does not follow from its inputs although every rank made the same call. Links have checksums, but
memory, buses and network cards on the way can still change bytes, and a reduction spreads one wrong value to every rank.

Training does not notice: the only signs are a loss that jumps, a NaN, or replicas that differ slightly.

How to recognise it: the same program with the same seed gives a different result on one machine, or one machine is part of
every failing job.

Fix: run a collective test with checked results over all pairs of nodes (pdsim validate, nccl-tests with -c 1) and remove
the faulty node.)";

extern const DiagnosisRow message_corrupted_row;
const DiagnosisRow message_corrupted_row{320, "message-corrupted", "a message arrived with different bytes than were "
                                                                   "sent",
                                         message_corrupted, message_corrupted_text};

}  // namespace pdsim::scenarios::diagnoses
