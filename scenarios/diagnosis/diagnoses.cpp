#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

// The blocked ranks that wait for a culprit, or for a rank that does, and so on.
std::vector<Rank> held_up_by(const Report& report, const std::vector<Rank>& culprits) {
  std::vector<char> held(report.run.ranks.size(), 0), accused(report.run.ranks.size(), 0);
  for (const Rank rank : culprits) accused[static_cast<std::size_t>(rank)] = held[static_cast<std::size_t>(rank)] = 1;
  const auto is_held = [&](Rank r) { return held[static_cast<std::size_t>(r)] != 0; };
  for (bool changed = true; changed;) {
    changed = false;
    std::map<const void*, bool> looked_through;  // lists that many share
    for (const BlockedRank& b : report.blocked) {
      if (is_held(b.rank)) continue;
      const auto [list, is_new] = looked_through.try_emplace(&*b.waits_for, false);
      if (is_new) list->second = std::any_of(b.waits_for->begin(), b.waits_for->end(), is_held);
      if (!list->second) continue;
      held[static_cast<std::size_t>(b.rank)] = 1;
      changed = true;
    }
  }
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < held.size(); ++r)
    if (held[r] != 0 && accused[r] == 0) ranks.push_back(static_cast<Rank>(r));
  return ranks;
}

// Calls of ranks, each once, in the order in which they are added. Cost: O(log n) a call.
class References {
 public:
  void add(Rank rank, const Call& call) {
    if (call.layer == Layer::program) return;
    const std::int64_t own = call.seq >= 0 ? -1 : call.id;  // a message is one rank's
    const Rank of = call.seq >= 0 ? no_rank : rank;
    const auto [it, is_new] = known_.try_emplace({call.name, call.group, call.seq, call.peer, own, of}, all.size());
    if (is_new) all.push_back({{}, call.name, call.group, call.seq, call.peer, call.site, call.id});
    if (ranks_.emplace(it->second, rank).second) all[it->second].ranks.push_back(rank);
  }
  std::vector<CallReference> all;

 private:
  std::map<std::tuple<std::string, std::string, Seq, Rank, std::int64_t, Rank>, std::size_t> known_;
  std::set<std::pair<std::size_t, Rank>> ranks_;
};

// Returns the calls that the evidence cites, and those that the ranks of the finding are in.
std::vector<CallReference> calls_of(const Report& report, const Diagnosis& d) {
  References calls;
  for (const Evidence& evidence : d.evidence)
    if (const Call* call = call_by_id(log_of(report.run, evidence.rank), evidence.call)) calls.add(evidence.rank, *call);
  std::set<Rank> ranks(d.waiting.begin(), d.waiting.end());
  ranks.insert(d.ranks.begin(), d.ranks.end());
  for (const BlockedRank& b : report.blocked)
    if (ranks.count(b.rank) != 0)
      if (const Call* call = call_by_id(log_of(report.run, b.rank), b.call)) calls.add(b.rank, *call);
  return std::move(calls.all);
}

}  // namespace

std::optional<Diagnosis> diagnosis_by(const Report& report, const DiagnosisRow& row) {
  std::optional<Diagnosis> found = row.find(report);
  if (!found) return std::nullopt;
  PDSIM_CHECK(!found->evidence.empty(), "a diagnosis cites the events it speaks about");
  found->id = std::string(row.id);
  std::sort(found->ranks.begin(), found->ranks.end());
  if (found->waiting.empty()) found->waiting = held_up_by(report, found->ranks);
  if (found->calls.empty()) found->calls = calls_of(report, *found);
  return found;
}

std::optional<Diagnosis> diagnose(const Report& report) {
  for (const DiagnosisRow* row : diagnosis_table())
    if (std::optional<Diagnosis> found = diagnosis_by(report, *row)) return found;
  return std::nullopt;
}

const DiagnosisRow* diagnosis_named(std::string_view id) {
  const std::vector<const DiagnosisRow*> table = diagnosis_table();
  const auto it = std::find_if(table.begin(), table.end(), [id](const DiagnosisRow* row) { return row->id == id; });
  return it == table.end() ? nullptr : *it;
}

}  // namespace pdsim::scenarios
