#include "scenarios/reports/dumped/dump_report.h"

#include "core/base/printable.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/dumped/answer.h"
#include "scenarios/reports/dumped/dump_tables.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/reports/text/text_timeline.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_answers = 6, most_reasons = 3, label_width = 8;

std::string header(const Report& report, const WallClock& clock) {
  const std::vector<RankResult>& ranks = report.run.ranks;
  std::set<std::string> hosts;
  std::size_t lost = 0, calls = 0;
  for (const RankResult& result : ranks) {
    lost += is_lost(result.log) ? 1 : 0;
    calls += result.log.calls.size();
    if (std::string host = host_of(result.log); !host.empty()) hosts.insert(std::move(host));
  }
  std::string out = fmt::format("{}   {} rank{}", report.scenario->name, ranks.size(), ranks.size() == 1 ? "" : "s");
  if (!hosts.empty()) out += fmt::format(" on {} host{}", hosts.size(), hosts.size() == 1 ? "" : "s");
  std::vector<std::string> lacks;
  if (lost > 0) lacks.push_back(fmt::format("{} without a record", lost));
  if (std::string files = left_out_count(report.left_out); !files.empty()) lacks.push_back(std::move(files));
  if (!lacks.empty()) out += fmt::format(" ({})", fmt::join(lacks, ", "));
  out += ", " + outcome_sentence(report) + "\n";
  if (clock.has_date() && calls > 0)
    out += fmt::format("calls from {} to {} UTC\n", clock.moment(Time{}).substr(0, 23), clock.time(report.run.elapsed));
  return out + "\n";
}

// Where nothing is known to hang, the calls that a finding cites are over, and silently wrong, or still run.
std::string_view outcome_of(const Report& report, const Diagnosis& d) {
  if (report.outcome != Outcome::ok) return name_of(report.outcome);
  const bool runs = std::any_of(d.evidence.begin(), d.evidence.end(), [&](const Evidence& e) {
    const Call* call = call_by_id(log_of(report.run, e.rank), e.call);
    return call != nullptr && is_open_at(*call, Time::max());
  });
  return runs ? "running" : "silent";
}

std::string headline(const Report& report, const Diagnosis& d) {
  return wrapped(fmt::format("{}[{}]: {}", outcome_of(report, d), d.id, d.headline), 0);
}

std::string answers(const Report& report) {
  std::string out;
  for (std::size_t i = 0; i < std::min(report.findings.size(), most_answers); ++i) {
    const Diagnosis& d = report.findings[i];
    out += headline(report, d);
    for (const AnswerLine& line : answer_to(report, d)) {
      const std::string text = wrapped(line.text, 2 + label_width);
      out += fmt::format("  {:<{}}{}", line.label, label_width, text.substr(std::min<std::size_t>(2 + label_width, text.size())));
    }
    out += "\n";
  }
  if (report.findings.size() > most_answers)
    out += fmt::format("and {} more findings; --json lists all\n\n", report.findings.size() - most_answers);
  if (report.unexplained_hangs > 0)
    out += fmt::format("{} more places where ranks hang are more recent and not explained\n\n", report.unexplained_hangs);
  return out;
}

// Why, and what to change: `next` stands above.
std::string reasons(const Report& report) {
  std::string out;
  const bool several = report.findings.size() > 1;
  for (std::size_t i = 0; i < std::min(report.findings.size(), most_reasons); ++i) {
    const Diagnosis& d = report.findings[i];
    const std::string of = several ? fmt::format("   ({}, {})", d.id, ranks_text(d.ranks.empty() ? d.waiting : d.ranks)) : "";
    out += wrapped("why" + of, 0) + wrapped(d.why, 2) + "\n";
    if (d.next.empty() && d.fix_lines.empty()) continue;  // the fix stands above
    out += wrapped("fix" + of, 0) + wrapped(d.fix.text, 2);
    for (const FixLine& line : d.fix_lines) out += wrapped(line.said(), 2);
    out += "\n";
  }
  return out;
}

std::string left_out_section(const Report& report) {
  if (report.left_out.empty()) return {};
  constexpr std::size_t most_lines = 20;
  const std::vector<std::string> lines = left_out_lines(report.left_out);
  std::string out = "left out\n";
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) out += wrapped(lines[i], 2);
  if (lines.size() > most_lines) out += fmt::format("  and {} more; --json lists all\n", lines.size() - most_lines);
  return out + "\n";
}

std::string more_lines(const Report& report) {
  std::vector<std::string> ids;
  for (const Diagnosis& d : report.findings)
    if (std::find(ids.begin(), ids.end(), d.id) == ids.end()) ids.push_back(d.id);
  std::string out;
  for (const std::string& id : ids) out += fmt::format("more     pdsim explain {}\n", id);
  return out;
}

bool went_wrong(const Report& report) { return report.outcome != Outcome::ok || !report.findings.empty(); }

// Nothing was found: what that rests on.
std::string nothing(const Report& report) {
  if (!may_be_in_flight(report)) return "nothing to explain\n\n";
  return "nothing to explain\n" +
         wrapped("the open calls may have been running: none is known to be older than 10s; if the job is stuck, write dumps "
                 "again after that time, or ask again with --live",
                 2) +
         "\n";
}

}  // namespace

bool may_be_in_flight(const Report& report) {
  return !went_wrong(report) && std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [](const RankResult& r) {
    return std::any_of(r.log.calls.begin(), r.log.calls.end(), [](const Call& c) { return is_open_at(c, Time::max()); });
  });
}

std::string render_dumps(const Report& report) {
  if (report.scenario == nullptr) return {};
  const WallClock clock(report.run);
  std::string out = header(report, clock);
  if (!went_wrong(report)) return printable_lines(out + nothing(report) + groups_table(report, clock) + left_out_section(report));
  if (report.findings.empty()) out += fmt::format("{}; no known cause matches\n\n", outcome_sentence(report));
  out += answers(report) + reasons(report) + groups_table(report, clock) + dumped_waits(report) +
         dumped_states(report, clock) + places_section(report);
  if (const std::string picture = timeline(report); !picture.empty()) out += picture + "\n";
  return printable_lines(out + left_out_section(report) + more_lines(report));
}

}  // namespace pdsim::scenarios
