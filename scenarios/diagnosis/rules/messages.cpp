#include "scenarios/diagnosis/rules/messages.h"

#include "core/base/result.h"
#include "core/semantics/library.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

namespace pdsim::scenarios::diagnoses {

std::uint64_t tag_of(const Call& call) { return call.details->tag; }

const LibrarySemantics* library_of(const Report& report) {
  std::string name = report.world;
  for (const RankResult& result : report.run.ranks)
    if (const Note* note = first_note<notes::BackendUsed>(result.log)) name = note->as<notes::BackendUsed>().backend;
  return library_named(name);
}

bool has_tags(const Report& report) {
  const LibrarySemantics* library = library_of(report);
  return library == nullptr || library->tags;
}

namespace {

bool is_like(const Call& call, const std::string& name, Rank peer, const std::string& group) {
  return call.layer == Layer::point_to_point && call.name == name && call.peer == peer && call.group == group;
}

bool same_tag(const Report& report, const Call& a, const Call& b) {
  return !has_tags(report) || tag_of(a) == tag_of(b);
}

// Of records whose beginnings are lost: the n-th that is not done meets the n-th of the peer that is not.
const Call* met_by_end(const Report& report, Rank rank, const Call& call) {
  const std::string other = call.name == "send" ? "recv" : "send";
  const Time moment = moment_of(report.run);
  int before = 0;
  for (const Call& mine : log_of(report.run, rank).calls) {
    if (mine.id == call.id) break;
    if (is_like(mine, call.name, call.peer, call.group) && same_tag(report, mine, call) && is_open_at(mine, moment))
      ++before;
  }
  for (const Call& theirs : log_of(report.run, call.peer).calls)
    if (is_like(theirs, other, rank, call.group) && same_tag(report, theirs, call) && is_open_at(theirs, moment) &&
        before-- == 0)
      return &theirs;
  return nullptr;
}

// The call of the peer that met this one.
const Call* met_by(const Report& report, Rank rank, const Call& call) {
  const bool from_the_start = log_of(report.run, rank).dropped == 0 && log_of(report.run, call.peer).dropped == 0;
  if (!from_the_start) return met_by_end(report, rank, call);
  const std::string other = call.name == "send" ? "recv" : "send";
  int before = 0;  // messages of this rank to the same peer with the same tag
  for (const Call& mine : log_of(report.run, rank).calls) {
    if (mine.id == call.id) break;
    if (is_like(mine, call.name, call.peer, call.group) && same_tag(report, mine, call)) ++before;
  }
  for (const Call& theirs : log_of(report.run, call.peer).calls)
    if (is_like(theirs, other, rank, call.group) && theirs.issued <= moment_of(report.run) &&
        same_tag(report, theirs, call) && before-- == 0)
      return &theirs;
  return nullptr;
}

}  // namespace

Counterpart counterpart_of(const Report& report, Rank rank, const Call& call) {
  if (call.peer < 0 || static_cast<std::size_t>(call.peer) >= report.run.ranks.size()) return {};
  if (const Call* met = met_by(report, rank, call)) return {met, nullptr};
  const std::string other = call.name == "send" ? "recv" : "send";
  for (const Call& theirs : log_of(report.run, call.peer).calls)
    if (is_like(theirs, other, rank, call.group) && theirs.issued <= moment_of(report.run) &&
        !same_tag(report, theirs, call) && met_by(report, call.peer, theirs) == nullptr)
      return {nullptr, &theirs};
  return {};
}

}  // namespace pdsim::scenarios::diagnoses
