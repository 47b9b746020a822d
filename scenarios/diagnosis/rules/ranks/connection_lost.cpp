// A connection broke between ranks that lived on, and that had called alike.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_broken(const Call& call) { return call.state == CallState::failed && call.error == Code::peer_closed; }

const Call* broken_call(const RankLog& log) {
  const auto found = std::find_if(log.calls.rbegin(), log.calls.rend(),
                                  [](const Call& c) { return c.layer == Layer::collective && is_broken(c); });
  return found == log.calls.rend() ? nullptr : &*found;
}

// Returns the broken call of the rank that had come furthest.
const Call* newest_broken_call(const Report& report) {
  const Call* newest = nullptr;
  for (const RankError& e : report.errors) {
    const Call* call = broken_call(log_of(report.run, e.rank));
    if (call == nullptr || (newest != nullptr && call->group != newest->group)) return nullptr;
    if (newest == nullptr || call->seq > newest->seq) newest = call;
  }
  return newest;
}

// A rank that had ended closes its connections, and so does one that calls something else and gives up. One that is in an
// earlier call of the group is there for want of what the connection carried; one that came to the call later had lived too.
bool lives_in(const RankLog& log, const Call& call) {
  if (log.end == RankEnd::died || log.end == RankEnd::returned) return false;
  const auto in = std::find_if(log.calls.rbegin(), log.calls.rend(),
                               [&](const Call& c) { return c.layer == Layer::collective && c.group == call.group; });
  if (in == log.calls.rend() || in->seq > call.seq) return false;
  return is_broken(*in) || is_open_at(*in, Time::max());
}

}  // namespace

std::optional<Diagnosis> connection_lost(const Report& report) {
  if (report.errors.empty() || (report.divergence && report.divergence->field != DivergenceKind::missing))
    return std::nullopt;
  for (const RankError& e : report.errors)
    if (e.code != Code::peer_closed) return std::nullopt;
  const RankError& first = *std::min_element(report.errors.begin(), report.errors.end(),
                                             [](const RankError& a, const RankError& b) { return a.at < b.at; });
  const Call* call = newest_broken_call(report);
  if (call == nullptr) return std::nullopt;
  for (const RankResult& rank : report.run.ranks)
    if (!lives_in(rank.log, *call)) return std::nullopt;

  Diagnosis d;
  for (const RankError& e : report.errors) add_once(d.ranks, e.rank);
  const std::string what = fmt::format("{} #{}", call_text(*call), call->seq);
  d.headline = fmt::format("{} a connection in {}, and no rank had ended", who(d.ranks, "lost", "lost"), what);
  d.cause = fmt::format("no rank had ended when the connection of rank {} broke", first.rank);
  d.why = fmt::format(
      "Every rank was in {} or still in an earlier call, and all of them were alive when rank {} learned at {} that "
      "its connection was closed. So no rank closed it. The cause lies between them: the network, a firewall or NAT "
      "that drops idle connections, or a system limit.",
      what, first.rank, to_string(first.at));
  d.fix = "check the network between the hosts of these ranks: link errors, idle timeouts of firewalls, interfaces";
  d.fix_lines = {"GLOO_SOCKET_IFNAME chooses the interface; `pdsim validate --pairs` times every pair of ranks",
                 "restart all ranks together from a checkpoint: the group is unusable"};
  for (const RankError& e : report.errors)
    if (const Call* failed = broken_call(log_of(report.run, e.rank)))
      d.evidence.push_back(evidence_of(e.rank, *failed, fmt::format("peer-closed at {}", to_string(e.at))));
  add_span(d, report, call->site.line, call->site.column, fmt::format("{} broke here", what), true);
  d.inevitable_at = first.at;
  d.inevitable = fmt::format("since {}: the connection of rank {} was closed", to_string(first.at), first.rank);
  return d;
}

constexpr std::string_view connection_lost_text =
    R"(A rank saw its connection close, although no rank had ended and none had called anything else. The cause lies between the
ranks: a cable or switch, a firewall or NAT that drops idle connections, a limit on open files, or a person who cut it.

How to recognise it: "connection closed by peer" or "connection reset" on one rank or two, nothing in the logs of the others
before it, and all ranks in the same call.

Fix: look at the network between these hosts, and at the interface that the ranks use (GLOO_SOCKET_IFNAME). The job does not
recover by itself: restart all ranks from a checkpoint.)";

extern const DiagnosisRow connection_lost_row;
const DiagnosisRow connection_lost_row{440, "connection-lost", "a connection broke between ranks that were still alive",
                                       connection_lost, connection_lost_text};

}  // namespace pdsim::scenarios::diagnoses
