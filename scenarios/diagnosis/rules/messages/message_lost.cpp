// Every rank made its call, and it does not complete: a message between them is missing. Cites the recorded loss.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Loss {
  Rank from = 0;
  const Note* note = nullptr;
  int count = 0;  // of losses
};

std::optional<Loss> first_loss(const Report& report) {
  std::optional<Loss> first;
  int count = 0;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::Fault>(result.log)) {
      if (note->as<notes::Fault>().fault != FaultKind::drop) continue;
      ++count;
      if (!first || note->at < first->note->at) first = Loss{result.log.rank, note, 0};
    }
  if (first) first->count = count;
  return first;
}

// A call that was open when the message was lost, or began later, and did not complete.
const Call* sufferer(const Report& report, Rank rank, Time since) {
  const Time moment = moment_of(report.run);
  for (const Call& call : log_of(report.run, rank).calls) {
    const bool waits = call.layer == Layer::collective || call.layer == Layer::point_to_point;
    if (!waits || call.issued > moment) continue;
    if (call.state == CallState::completed && !is_open_at(call, moment)) continue;
    if (call.state != CallState::completed || call.finished >= since) return &call;
  }
  return nullptr;
}

void add_fix(Diagnosis& d) {
  d.fix = "repair the network between these ranks; no change to the program helps";
  d.fix_lines = {"collectives do not retransmit: a lost message stays lost until the group is rebuilt"};
}

// A request or a reply of a remote call.
std::optional<Diagnosis> from_remote_call(const Report& report, const Loss& loss, Rank to) {
  const auto [caller, call] = remote_call_between(report, loss.from, to, loss.note->at);
  if (call == nullptr) return std::nullopt;
  const bool request = caller == loss.from;
  const std::string asks = worker_name_of(report.run, caller), serves = worker_name_of(report.run, call->peer);
  const std::string message = request ? "request" : "reply", made = fmt::format("{} of {}", call->name, call->details->rpc.function);
  Diagnosis d;
  d.ranks = {loss.from, to};
  d.evidence.push_back(evidence_of(loss.from, *loss.note, fmt::format("the {} to rank {} was lost", message, to)));
  d.evidence.push_back(evidence_of(caller, *call, fmt::format("{} waits for {}", asks, serves)));
  d.headline = fmt::format("{} (rank {}) waits in {} for {}, and the {} was lost on the way", asks, caller, made, serves, message);
  d.cause = fmt::format("the {} from rank {} to rank {} at {} never arrived", message, loss.from, to, to_string(loss.note->at));
  d.why = fmt::format(
      "{} Nothing retransmits it: the caller waits until its rpc_timeout, and {} in shutdown waits for every call to finish.",
      capitalised(d.cause) + ".", request ? serves : "every worker");
  d.fix = "repair the network between these ranks; a shorter rpc_timeout reports it earlier";
  d.fix_lines = {"the program can repeat a call after its timeout, if it is safe to make the call twice"};
  add_span(d, report, call->site.line, call->site.column, fmt::format("the call whose {} was lost", message), true);
  d.inevitable_at = loss.note->at;
  d.inevitable = fmt::format("since {}: the message was lost", to_string(loss.note->at));
  return d;
}

std::optional<Diagnosis> from_note(const Report& report, const Loss& loss) {
  if (report.divergence && report.divergence->at < loss.note->at) return std::nullopt;
  const Rank to = loss.note->as<notes::Fault>().to;
  if (to < 0 || static_cast<std::size_t>(to) >= report.run.ranks.size()) return std::nullopt;
  const Call* call = sufferer(report, to, loss.note->at);
  if (call == nullptr) return from_remote_call(report, loss, to);
  Diagnosis d;
  d.ranks = {loss.from, to};
  d.evidence.push_back(evidence_of(loss.from, *loss.note, fmt::format("a message to rank {} was lost", to)));
  d.evidence.push_back(evidence_of(to, *call, fmt::format("{} did not complete", name_and_number(*call))));
  d.headline =
      fmt::format("rank {} waits in {} for a message of rank {} that was lost", to, name_and_number(*call), loss.from);
  if (call->state == CallState::failed && !is_timeout(call->error) && !is_consequence(call->error))
    d.headline = fmt::format("a message from rank {} was lost, and rank {} took the next one for it in {}", loss.from,
                             to, name_and_number(*call));
  d.cause =
      fmt::format("the message from rank {} to rank {} at {} never arrived", loss.from, to, to_string(loss.note->at));
  if (loss.count > 1) d.cause += fmt::format(", nor did {} later", loss.count - 1);
  d.why = fmt::format(
      "Every rank made the right call. {} Nothing retransmits it, so {} cannot complete, and the ranks that need its "
      "result cannot continue.",
      capitalised(d.cause) + ".", name_and_number(*call));
  add_fix(d);
  add_span(d, report, call->site.line, call->site.column, "the call whose message was lost", true);
  d.inevitable_at = loss.note->at;
  d.inevitable = fmt::format("since {}: the message was lost", to_string(loss.note->at));
  return d;
}

}  // namespace

std::optional<Diagnosis> message_lost(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  const std::optional<Loss> loss = first_loss(report);
  return loss ? from_note(report, *loss) : std::nullopt;
}

constexpr std::string_view message_lost_text =
    R"(Every rank of the group made the call, with equal arguments, and still it never completes: one of its messages did not
arrive. Collectives do not retransmit messages. TCP and InfiniBand do retransmit lost packets, but a broken link, a
partition, a firewall between two interfaces, or a process that stopped inside the call look like this.

How to recognise it: all ranks are in the same call with the same sequence number, nothing in the program differs, and the
loss was recorded. Without a record of the loss the report says all-stuck or missing-exit.

Fix: check that every pair of ranks can reach each other over the interface the backend chose (GLOO_SOCKET_IFNAME,
NCCL_SOCKET_IFNAME), then restart all ranks. A shorter timeout shows the failure earlier; it does not fix it.)";

extern const DiagnosisRow message_lost_row;
const DiagnosisRow message_lost_row{310, "message-lost",
                                    "every rank made its call, and a message between them never arrived", message_lost,
                                    message_lost_text};

}  // namespace pdsim::scenarios::diagnoses
