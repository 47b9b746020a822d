#include "scenarios/reports/text/verdict_lines.h"

#include "scenarios/reports/text/text_parts.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t verdict_width = 6;  // "PASS  "

struct Columns {
  std::size_t name = 0;   // the width of the names
  std::size_t right = 0;  // where the last column begins
};

std::string variant_name(const Report& report) {
  if (report.scenario == nullptr) return "";
  return report.scenario->variant.empty() ? report.scenario->name : report.scenario->variant;
}

// What stands beside the outcome: the finding of an expected one, the place of an expectation that does not hold.
std::string right_text(const Report& report) {
  if (report.verdict == Verdict::skip) return {};
  if (report.verdict == Verdict::pass) {
    if (report.diagnosis()) return fmt::format("[{}]", report.diagnosis()->id);
    return report.outcome == Outcome::ok ? "all expectations hold" : "";
  }
  if (report.scenario == nullptr) return {};
  const Mark mark = report.failures.empty() ? Mark{} : report.failures.front().mark;
  return mark.line > 0 ? fmt::format("{}:{}:{}", report.scenario->file, mark.line, mark.column) : report.scenario->file;
}

std::string outcome_text(const Report& report) {
  const bool expected = report.verdict == Verdict::pass && report.outcome != Outcome::ok;
  return outcome_sentence(report) + (expected ? ", as expected" : "");
}

// The last column begins behind the longest outcome that leaves it room in the line.
Columns columns_for(const std::vector<Report>& reports) {
  constexpr std::size_t widest_name = 40, usual = 50;
  Columns at;
  std::size_t right = 0;
  for (const Report& report : reports) {
    at.name = std::max(at.name, width_of(variant_name(report)));
    if (report.verdict == Verdict::pass) right = std::max(right, width_of(right_text(report)));
  }
  at.name = std::min(at.name, widest_name);
  const std::size_t latest = text_width - std::min(right, usual);
  at.right = std::min(at.name + usual, latest);
  for (const Report& report : reports) {
    const std::size_t end = verdict_width + at.name + 2 + width_of(outcome_text(report)) + 2;
    if (report.verdict == Verdict::pass && end <= latest) at.right = std::max(at.right, end);
  }
  return at;
}

// The outcome beside the name, and what stands to the right of it, in the same line if that has room.
std::string line_of_columns(std::string_view verdict, const std::string& name, const std::string& what, const std::string& right,
                            const Columns& at) {
  const std::string head = fmt::format("{}  {:<{}}  ", verdict, name, at.name);
  std::string text = beside(head, what);
  text.pop_back();
  if (right.empty()) return text + "\n";
  const std::size_t last = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  const std::size_t end = width_of(std::string_view(text).substr(last));
  const std::size_t begin = std::max(at.right, end + 2);
  if (begin + width_of(right) <= text_width) return text + std::string(begin - end, ' ') + right + "\n";
  if (end + 2 + width_of(right) <= text_width) return text + "  " + right + "\n";
  return text + "\n" + beside(std::string(verdict_width + at.name + 2, ' '), right);
}

std::string failure_lines(const Report& report) {
  constexpr std::size_t most = 5;
  std::string text;
  const std::size_t shown = std::min(report.failures.size(), most);
  for (std::size_t i = 0; i < shown; ++i)
    text += beside("      expected  ", report.failures[i].expected) + beside("      got       ", report.failures[i].got);
  if (report.failures.size() > shown) text += fmt::format("      ... and {} more\n", report.failures.size() - shown);
  if (report.divergence && !report.diagnosis())
    text += fmt::format("      first divergence: sequence number {} of group {}\n", report.divergence->seq,
                        report.divergence->group);
  return text;
}

std::string lines_of_report(const Report& report, const Columns& at) {
  const std::string name = variant_name(report);
  if (report.verdict == Verdict::skip) {
    const std::size_t indent = std::min<std::size_t>(verdict_width + at.name + 2, text_width / 2);
    const std::string reason = wrapped(report.skip_reason, indent);
    return fmt::format("SKIP  {:<{}}  {}", name, at.name, reason.empty() ? "\n" : reason.substr(indent));
  }
  const bool passes = report.verdict == Verdict::pass;
  const std::string line =
      line_of_columns(passes ? "PASS" : "FAIL", name, outcome_text(report), right_text(report), at);
  return passes ? line : line + failure_lines(report);
}

}  // namespace

std::vector<std::string> verdict_lines(const std::vector<Report>& reports) {
  const Columns at = columns_for(reports);
  std::vector<std::string> lines;
  for (const Report& report : reports) lines.push_back(lines_of_report(report, at));
  return lines;
}

}  // namespace pdsim::scenarios
