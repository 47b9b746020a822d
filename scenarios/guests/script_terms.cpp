#include "scenarios/guests/script_terms.h"

#include "core/base/int_set.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pdsim::scenarios::guests {
namespace {

void speak_python(FixLine& line) {
  if (!line.python.empty()) line.text = line.python;
}

void speak_python(Diagnosis& finding) {
  speak_python(finding.fix);
  for (FixLine& line : finding.fix_lines) speak_python(line);
}

const Site* site_of(const Report& report, const Evidence& evidence) {
  const RankLog& log = log_of(report.run, evidence.rank);
  const Call* call = call_by_id(log, evidence.call);
  return call == nullptr || call->site.line <= 0 || !call->site.origin ? nullptr : &call->site;
}

// Returns the file of the call at that line, which some rank made.
std::string file_of(const Report& report, const Span& span) {
  for (const RankResult& rank : report.run.ranks) {
    for (const Call& call : rank.log.calls)
      if (call.site.origin && call.site.line == span.line) return call.site.origin->file;
    for (const Note& note : rank.log.notes)
      if (note.site.origin && note.site.line == span.line) return note.site.origin->file;
    if (rank.log.error_site.origin && rank.log.error_site.line == span.line) return rank.log.error_site.origin->file;
  }
  return {};
}

// Where a rank was that calls nothing any more.
void point_at_silence(const Report& report, Diagnosis& finding) {
  for (const Rank rank : finding.ranks)
    for (const Note* note : notes_of<notes::Fault>(log_of(report.run, rank)))
      if (note->site.line > 0 && note->site.origin && finding.spans.empty())
        finding.spans.push_back(
            {note->site.line, note->site.column, 1, "rank " + std::to_string(rank) + " is here", true});
}

void point_at_evidence(const Report& report, Diagnosis& finding) {
  for (const Evidence& evidence : finding.evidence) {
    const Site* site = site_of(report, evidence);
    if (site == nullptr) continue;
    const bool known = std::any_of(finding.spans.begin(), finding.spans.end(),
                                   [&](const Span& span) { return span.line == site->line; });
    const std::string label = "rank " + std::to_string(evidence.rank) + ": " + evidence.what;
    if (!known) finding.spans.push_back({site->line, site->column, 1, label, finding.spans.empty()});
  }
}

std::string file_of_error(const Report& report) {
  if (report.errors.empty()) return {};
  const Site& site = log_of(report.run, first_cause(report.errors).rank).error_site;
  return site.origin ? site.origin->file : std::string();
}

}  // namespace

std::string speak_of_script(Report& report) {
  if (report.findings.empty()) return file_of_error(report);
  for (Diagnosis& finding : report.findings) speak_python(finding);
  Diagnosis& first = report.findings.front();
  point_at_silence(report, first);
  if (first.spans.empty()) point_at_evidence(report, first);
  if (first.spans.empty()) return {};
  const std::string file = file_of(report, first.spans.front());
  std::erase_if(first.spans, [&](const Span& span) { return file_of(report, span) != file; });
  return file;
}

void name_descriptions(Report& report, const std::vector<GroupDescriptions>& groups) {
  if (report.findings.empty() || groups.empty()) return;
  Diagnosis& first = report.findings.front();
  const GroupDescriptions& group = groups.front();
  std::string names;
  for (const auto& [name, ranks] : group.names) {
    const std::string_view description(name.data(), name.size() - std::min(name.size(), identity_of_group(name).size() + 1));
    names += fmt::format("{}{} to {}", names.empty() ? "" : " and ", description, ranks_text(ranks));
  }
  first.why += fmt::format(
      " The group of {} is {}: the name of a mesh dimension leads them to different groups, which PyTorch does not "
      "notice when it creates them.",
      ranks_text(group.members), names);
  first.fix_lines.insert(first.fix_lines.begin(), first.fix);
  first.fix = "init_device_mesh(..., mesh_dim_names=...) with the same names in the same order on every rank";
}

}  // namespace pdsim::scenarios::guests
