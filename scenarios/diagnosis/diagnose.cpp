#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/language/diagnosis_ids.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <string>

namespace pdsim::scenarios {
namespace {

bool has(const std::vector<Rank>& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// The blocked ranks that wait for a culprit, or for a rank that does, and so on.
std::vector<Rank> held_up_by(const Report& report, const std::vector<Rank>& culprits) {
  std::vector<char> held(report.run.ranks.size(), 0), accused(report.run.ranks.size(), 0);
  for (const Rank rank : culprits) accused[static_cast<std::size_t>(rank)] = held[static_cast<std::size_t>(rank)] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockedRank& b : report.blocked) {
      char& mine = held[static_cast<std::size_t>(b.rank)];
      if (mine != 0) continue;
      if (std::none_of(b.waits_for.begin(), b.waits_for.end(),
                       [&](Rank r) { return held[static_cast<std::size_t>(r)] != 0; }))
        continue;
      mine = 1;
      changed = true;
    }
  }
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < held.size(); ++r)
    if (held[r] != 0 && accused[r] == 0) ranks.push_back(static_cast<Rank>(r));
  return ranks;
}

void add_call(std::vector<CallReference>& calls, Rank rank, const Call& call) {
  if (call.layer == Layer::program) return;
  const auto same = std::find_if(calls.begin(), calls.end(), [&](const CallReference& c) {
    return c.name == call.name && c.group == call.group && c.seq == call.seq && c.peer == call.peer &&
           (c.seq >= 0 || (c.call == call.id && has(c.ranks, rank)));
  });
  if (same == calls.end()) {
    calls.push_back({{rank}, call.name, call.group, call.seq, call.peer, call.site, call.id});
  } else if (!has(same->ranks, rank)) {
    same->ranks.push_back(rank);
  }
}

// What the evidence cites, and where the ranks of the finding sit.
std::vector<CallReference> calls_of(const Report& report, const Diagnosis& d) {
  std::vector<CallReference> calls;
  for (const Evidence& evidence : d.evidence)
    if (const Call* call = call_by_id(log_of(report.run, evidence.rank), evidence.call))
      add_call(calls, evidence.rank, *call);
  for (const BlockedRank& b : report.blocked)
    if (has(d.waiting, b.rank) || has(d.ranks, b.rank))
      if (const Call* call = call_by_id(log_of(report.run, b.rank), b.call)) add_call(calls, b.rank, *call);
  return calls;
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

std::vector<std::string_view> language::diagnosis_ids() {
  std::vector<std::string_view> ids;
  for (const DiagnosisRow* row : diagnosis_table()) ids.push_back(row->id);
  return ids;
}

const DiagnosisRow* diagnosis_named(std::string_view id) {
  const std::vector<const DiagnosisRow*> table = diagnosis_table();
  const auto it = std::find_if(table.begin(), table.end(), [id](const DiagnosisRow* row) { return row->id == id; });
  return it == table.end() ? nullptr : *it;
}

}  // namespace pdsim::scenarios
