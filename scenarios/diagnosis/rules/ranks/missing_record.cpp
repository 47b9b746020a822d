// Ranks wait in a call, and of a rank that it needs there is no record: nobody can say whether it came.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pdsim::scenarios::diagnoses {
namespace {

bool has_no_record(const Report& report, Rank rank) { return has_note<notes::NoRecord>(log_of(report.run, rank)); }

bool is_unreadable(const Report& report, Rank rank) {
  const Note* note = first_note<notes::NoRecord>(log_of(report.run, rank));
  return note != nullptr && note->as<notes::NoRecord>().unreadable;
}

// The file is there, and damaged: what it would have said is not known.
void explain_unreadable(Diagnosis& d, const std::string& ranks, const std::string& what) {
  d.cause = fmt::format("the record of {} cannot be read, and {} needs {}", ranks, what, ranks);
  d.why = fmt::format(
      "{} must make {} too, and the file cannot be read. If a process or machine ends while it writes its record, the "
      "record is damaged, so it may be the cause; or the file was damaged when it was copied.",
      capitalised(ranks), what);
  d.fix_lines = {"copy the file again; if it can then be read, diagnose the records again"};
}

}  // namespace

std::optional<Diagnosis> missing_record(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  if (report.hang ? report.hang->end != HangEnd::no_record : report.divergence.has_value()) return std::nullopt;
  Diagnosis d;
  const BlockedRank* first = nullptr;
  std::vector<Rank> waiting;
  const void* known = nullptr;  // the list that was looked through last, which all in one call share
  for (const BlockedRank& b : report.blocked) {
    if (report.hang && !std::binary_search(report.hang->nearest.begin(), report.hang->nearest.end(), b.rank)) continue;
    const bool is_known = known != nullptr && known == &*b.waits_for;
    std::vector<Rank> unknown;
    if (!is_known)
      std::copy_if(b.waits_for->begin(), b.waits_for->end(), std::back_inserter(unknown),
                   [&](Rank rank) { return has_no_record(report, rank); });
    if (!is_known && unknown.empty()) continue;
    if (first == nullptr) first = &b;
    if (b.in != first->in || b.seq != first->seq || b.group != first->group) continue;
    known = &*b.waits_for;
    d.ranks.insert(d.ranks.end(), unknown.begin(), unknown.end());
    waiting.push_back(b.rank);
    if (d.evidence.size() < 4) d.evidence.push_back({b.rank, b.call, fmt::format("waits in {}", b.in)});
  }
  if (first == nullptr) return std::nullopt;
  std::sort(d.ranks.begin(), d.ranks.end());
  d.ranks.erase(std::unique(d.ranks.begin(), d.ranks.end()), d.ranks.end());
  const std::string what = first->seq >= 0 ? fmt::format("{} #{}", first->in, first->seq) : first->in;
  const std::string unknown = short_ranks(d.ranks);
  const bool damaged = std::all_of(d.ranks.begin(), d.ranks.end(), [&](Rank r) { return is_unreadable(report, r); });
  d.headline = fmt::format("{} in {} for {}, {}", who(waiting, "waits", "wait"), what, unknown,
                           damaged ? "whose record cannot be read" : "of which there is no record");
  d.cause = fmt::format("{} left no record, and {} of group {} needs {}", unknown, what, first->group, unknown);
  d.why = fmt::format(
      "{} in {}, which needs {} too, and {} left no record. A process that was killed, ran out of memory or lost its "
      "machine writes no record, so {} may be the cause; or {} elsewhere, on {}.",
      capitalised(who(waiting, "is", "are")), what, unknown, unknown, unknown,
      d.ranks.size() == 1 ? "its record lies" : "their records lie",
      d.ranks.size() == 1 ? "its own machine" : "their own machines");
  const bool one = d.ranks.size() == 1;
  d.fix = fmt::format("read the log{} of {} first to find out how and when {} ended", one ? "" : "s", unknown,
                      one ? "its process" : "their processes");
  d.fix_lines = {one ? "if it wrote a record, add it to the others and diagnose them again"
                     : "if they wrote records, add these to the others and diagnose them again"};
  if (damaged) explain_unreadable(d, unknown, fmt::format("{} of group {}", what, first->group));
  d.inevitable_at = first->since;
  return d;
}

constexpr std::string_view missing_record_text =
    R"(The given records agree: their ranks wait together in one call. But the group has more ranks than records, and the call
needs all of them. The other ranks' activity is not known. A process that hangs still leaves its record, because a separate
thread writes it; a process that was killed by a signal, by the kernel for lack of memory, or with its machine, leaves none.
So look at the rank without a record first, but the records alone do not prove it guilty.

How to recognise it: one file per rank is missing, and every rank that has one waits in the same call.

Fix: read the end of that rank's log and the kernel's log of its machine. Collect the records of all machines before the
next diagnosis.)";

extern const DiagnosisRow missing_record_row;
const DiagnosisRow missing_record_row{430, "missing-record",
                                      "ranks wait in a call that needs a rank without a record",
                                      missing_record, missing_record_text};

}  // namespace pdsim::scenarios::diagnoses
