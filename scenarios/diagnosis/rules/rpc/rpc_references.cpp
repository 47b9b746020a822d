// References that a worker still holds at shutdown although nothing has used them for long: their values pile up at the owner.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

using ReferenceId = std::pair<std::int64_t, std::int64_t>;  // the rank that made it, and its number there

struct Reference {
  const Call* maker = nullptr;
  Time last_used{};
  bool used = false;
};

// A call that its caller recorded; not backward, whose number is that of its pass.
bool may_use_references(const Call& call) {
  return call.layer == Layer::rpc && call.details->rpc.side == RpcSide::caller && call.details->rpc.function != "backward";
}

// `remote` of a function, or of a method of another reference.
bool makes_reference(const Call& call, Rank rank) {
  return call.name == "remote" && call.details->rpc.rref >= 0 && call.details->rpc.rref_on == rank;
}

// Every reference that `remote` made, with the newest call that asked for its value or for a method of it.
std::map<ReferenceId, Reference> references_of(const RunRecord& run) {
  std::map<ReferenceId, Reference> all;
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls)
      if (may_use_references(call) && makes_reference(call, result.log.rank))
        all.try_emplace({result.log.rank, call.details->rpc.rref}, Reference{&call});
  const auto use = [&](const ReferenceId& id, Time at) {
    const auto found = all.find(id);
    if (found == all.end()) return;
    found->second.last_used = std::max(found->second.last_used, at);
    found->second.used = true;
  };
  for (const RankResult& result : run.ranks) {
    for (const Call& call : result.log.calls) {
      if (!may_use_references(call)) continue;
      const RpcDetails& rpc = call.details->rpc;
      use({rpc.object_on, rpc.object}, call.issued);
      if (!makes_reference(call, result.log.rank)) use({rpc.rref_on, rpc.rref}, call.issued);
    }
    for (const Note* note : notes_of<notes::DistributedStep>(result.log)) {
      const auto& step = note->as<notes::DistributedStep>();
      for (std::size_t i = 0; i < step.made_on.size() && i < step.numbers.size(); ++i)
        use({step.made_on[i], step.numbers[i]}, note->at);
    }
  }
  return all;
}

// References of one worker to one owner that are still held, made by one line of one rank.
struct Leak {
  Rank user = 0;
  int maker = 0;
  std::string owner;
  std::vector<std::pair<Reference, const Note*>> references;  // by when they were made
};

// Each was used, for the last time before the next one was made: a loop that forgets to let go.
bool piles_up(const Leak& leak) {
  constexpr std::size_t few = 3;
  for (std::size_t i = 0; i < leak.references.size(); ++i) {
    const Reference& reference = leak.references[i].first;
    if (!reference.used) return false;
    if (i + 1 < leak.references.size() && leak.references[i + 1].first.maker->issued < reference.last_used)
      return false;
  }
  return leak.references.size() >= few;
}

std::optional<Leak> first_leak(const RunRecord& run) {
  const std::map<ReferenceId, Reference> made = references_of(run);
  for (const RankResult& result : run.ranks) {
    std::map<std::tuple<std::string, int, int, int>, Leak> by_line;
    for (const Note* note : notes_of<notes::RpcReferenceLeft>(result.log)) {
      const auto& left = note->as<notes::RpcReferenceLeft>();
      const auto found = made.find({left.rref_on, left.rref});
      if (found == made.end()) continue;
      const Site& site = found->second.maker->site;
      Leak& leak = by_line[{left.owner, left.rref_on, site.line, site.column}];
      leak.user = result.log.rank;
      leak.maker = left.rref_on;
      leak.owner = left.owner;
      leak.references.emplace_back(found->second, note);
    }
    for (auto& [line, leak] : by_line) {
      std::stable_sort(leak.references.begin(), leak.references.end(),
                       [](const auto& a, const auto& b) { return a.first.maker->issued < b.first.maker->issued; });
      if (piles_up(leak)) return std::move(leak);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> rpc_references_kept(const Report& report) {
  const std::optional<Leak> leak = first_leak(report.run);
  if (!leak) return std::nullopt;
  const auto& [first, first_note] = leak->references.front();
  const auto& [second, second_note] = leak->references[1];
  const std::string user = worker_name_of(report.run, leak->user), maker = worker_name_of(report.run, leak->maker);
  const std::string values = fmt::format("{} values", leak->references.size());
  const std::string place = first.maker->site.line > 0 ? fmt::format("line {}", first.maker->site.line)
                                                       : fmt::format("one call of remote({})", first.maker->details->rpc.function);
  Diagnosis d;
  d.ranks = {leak->user};
  d.evidence.push_back(evidence_of(leak->maker, *first.maker, fmt::format("{} made the first reference", maker)));
  d.evidence.push_back(evidence_of(leak->maker, *second.maker, fmt::format("{} made the second, and the first was not used again", maker)));
  d.evidence.push_back(evidence_of(leak->user, *first_note, fmt::format("{} still held the first at shutdown", user)));
  d.headline = fmt::format("{} (rank {}) still held RRefs to {} of {} at shutdown, which {} of {} had created", user,
                           leak->user, values, leak->owner, place, maker);
  d.cause = fmt::format("each was last used before the next was made, the first at {}; {} dropped none of them",
                        to_string(first.last_used), user);
  d.why = fmt::format(
      "The owner keeps a value for as long as any worker holds an RRef to it. {} keeps one more with every reference "
      "that {} does not drop, so its memory grows for as long as the program runs. shutdown() deletes them silently.",
      leak->owner, user);
  d.fix = fmt::format("let {} drop the RRef after its last use: del rref, or a list that is cleared in every iteration", user);
  d.fix_lines = {"pass the value on instead of the RRef where the callee only reads it: rref.to_here()"};
  add_span(d, report, first.maker->site.line, first.maker->site.column, "the references are made here", true);
  d.inevitable_at = second.maker->issued;
  d.inevitable = fmt::format("since {}: the second reference was made, and the first was still held", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view rpc_references_kept_text =
    R"(An RRef is a reference that other workers count: its owner keeps the value until the last worker has dropped its handle. A
list, a cache or a global that a loop appends to, on the caller or in a function that got the RRef as an argument, keeps every
past value alive at the owner. The owner's memory grows, although nothing in the owner's own program refers to these values.

How to recognise it: the owner runs out of memory although its own code keeps nothing. Here every reference that is still in
use at shutdown is in the record of its user (`rpc-reference-left`) and is returned by shutdown(). Reported if three or more
references of one line are left at one worker, and each was last used before the next was made. References that are used to
the end, such as those to parameters and modules, are not reported.

Fix: drop the RRef after its last use, on every worker that got it.)";

extern const DiagnosisRow rpc_references_kept_row;
const DiagnosisRow rpc_references_kept_row{537, "rpc-references-kept",
                                           "a worker keeps RRefs that nothing uses, and their values pile up at the owner",
                                           rpc_references_kept, rpc_references_kept_text};

}  // namespace pdsim::scenarios::diagnoses
