#include "scenarios/diagnosis/rules/messages/messages.h"

#include "core/base/result.h"
#include "core/semantics/library.h"
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::diagnoses {

std::uint64_t tag_of(const Call& call) { return call.details->tag; }

const LibrarySemantics* library_of(const Report& report) {
  std::string name = report.world.name();
  for (const RankResult& result : report.run.ranks)
    if (const Note* note = first_note<notes::BackendUsed>(result.log)) name = note->as<notes::BackendUsed>().backend;
  return library_named(name);
}

bool has_tags(const Report& report) {
  const LibrarySemantics* library = library_of(report);
  return library == nullptr || library->tags;
}

RemoteCall remote_call_between(const Report& report, Rank from, Rank to, Time at) {
  for (const auto& [caller, callee] : {std::pair{from, to}, std::pair{to, from}}) {
    if (caller < 0 || static_cast<std::size_t>(caller) >= report.run.ranks.size()) continue;
    for (const Call& call : log_of(report.run, caller).calls)
      if (call.layer == Layer::rpc && call.peer == callee && call.details->rpc.side == RpcSide::caller &&
          call.state != CallState::completed && call.issued <= at)
        return {caller, &call};
  }
  return {};
}

Counterpart counterpart_of(const Report& report, Rank rank, const Call& call) {
  if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= report.run.ranks.size()) return {};
  const PairRules rules{has_tags(report), moment_of(report.run)};
  if (const Call* met = met_by(report.run, rules, rank, call)) return {met, nullptr};
  for (const Call& theirs : log_of(report.run, call.peer).calls)
    if (could_meet(theirs, rank, call) && theirs.issued <= rules.moment && rules.tags &&
        tag_of(theirs) != tag_of(call) && met_by(report.run, rules, call.peer, theirs) == nullptr)
      return {nullptr, &theirs};
  return {};
}

namespace {

// Of the messages that the rank made in this group towards that peer: all, or those up to one of them.
std::int64_t messages_with(const RankLog& log, std::string_view name, Rank peer, const Call& like, bool up_to_it) {
  std::int64_t count = 0;
  for (const Call& c : log.calls) {
    if (c.layer == Layer::point_to_point && c.name == name && c.peer == peer && c.group == like.group) ++count;
    if (up_to_it && c.id == like.id) break;
  }
  return count;
}

}  // namespace

DifferingSide side_that_differs(const Report& report, Rank rank, const Call& call) {
  const std::string_view opposite = call.name == "send" ? "recv" : "send";
  std::map<std::pair<Rank, Rank>, std::int64_t> sent;
  for (const RankResult& result : report.run.ranks)
    for (const Call& c : result.log.calls) {
      if (c.layer != Layer::point_to_point || c.group != call.group) continue;
      if (result.log.dropped > 0) return {};
      const bool is_ours = (result.log.rank == rank && c.peer == call.peer) || (result.log.rank == call.peer && c.peer == rank);
      if (c.name == "send" && c.state == CallState::completed && !is_ours) ++sent[{result.log.rank, c.peer}];
    }
  std::int64_t usual = 0;
  for (const auto& [pair, count] : sent) usual = std::max(usual, count);
  const std::int64_t mine = messages_with(log_of(report.run, rank), call.name, call.peer, call, true);
  const std::int64_t theirs = messages_with(log_of(report.run, call.peer), opposite, rank, call, false);
  if (usual == 0 || (mine == usual) == (theirs == usual)) return {};
  return mine == usual ? DifferingSide{call.peer, theirs, usual} : DifferingSide{rank, mine, usual};
}

}  // namespace pdsim::scenarios::diagnoses
