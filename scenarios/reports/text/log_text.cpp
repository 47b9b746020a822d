#include "scenarios/reports/text/log_text.h"

#include "core/base/printable.h"
#include "scenarios/text/rank_list.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t list_width = 80;

// The ranks in a call come first.
std::string stacks_text(const std::vector<StackPlace>& stacks) {
  constexpr std::size_t most_places = 4;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(stacks.size(), most_places); ++i) {
    const StackPlace& at = stacks[i];
    texts.push_back(fmt::format("{} {} in {} ({})", ranks_within(at.ranks, list_width), at.ranks.size() == 1 ? "was" : "were",
                                at.call.empty() ? "no call of torch.distributed" : at.call, at.place));
  }
  if (stacks.size() > most_places) texts.push_back(fmt::format("others at {} more places", stacks.size() - most_places));
  return wrapped(fmt::format("undecided: by their stacks, {}; a stack shows one moment, so whether they stay there is not known", fmt::join(texts, ", ")), 0);
}

std::string undecided(const Report& report, const LogStory& story) {
  if (report.blocked.empty() && report.errors.empty() && story.proves.empty()) return "nothing to explain\n";
  if (report.blocked.empty() && report.errors.empty() && !story.stacks.empty()) return stacks_text(story.stacks);
  if (report.blocked.empty())
    return report.errors.empty() ? "undecided: the log does not show the cause of any error\n"
                                 : "undecided: the log shows errors that follow from another one, but not that one\n";
  const BlockedRank& first = report.blocked.front();
  std::vector<Rank> same;
  for (const BlockedRank& b : report.blocked)
    if (b.in == first.in && b.seq == first.seq && b.group == first.group) same.push_back(b.rank);
  return wrapped(
      fmt::format("undecided: {} waited in {}{} of group {}, and the log does not show which rank is missing",
                  ranks_within(same, list_width), first.in, first.seq > 0 ? fmt::format(" #{}", first.seq) : std::string(),
                  first.group),
      0);
}

// Where nothing says how many ranks the job has, those that the log names may not be all.
std::string size_text(const Report& report, const LogStory& story) {
  const std::size_t ranks = report.run.ranks.size();
  if (ranks == 0) return "names no rank";
  if (!story.knows_size) return fmt::format("names ranks up to {}", ranks - 1);
  return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
}

std::string lines_of(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = fmt::format("\n{}\n", title);
  for (const std::string& line : lines) out += wrapped(line, 2);
  return out;
}

}  // namespace

std::string render_logs(const Report& report, const LogStory& story) {
  std::string out = fmt::format("{}   {}\n\n", report.scenario->name, size_text(report, story));
  if (report.findings.empty()) out += undecided(report, story);
  for (const Diagnosis& d : report.findings) {
    if (&d != report.diagnosis()) out += "\n";
    out += wrapped(
        fmt::format("{}[{}]: {}", report.outcome == Outcome::ok ? "error" : name_of(report.outcome), d.id, d.headline),
        0);
    out += "\ncause\n" + wrapped(d.cause, 2);
    if (!d.fix.empty()) out += "\nfix\n" + wrapped(d.fix.text, 2);
    for (const FixLine& line : d.fix_lines) out += wrapped(line.said(), 2);
  }
  if (report.unexplained_hangs > 0)
    out += fmt::format("\n{} more places where ranks hang are more recent and not explained\n", report.unexplained_hangs);
  if (!story.proves.empty()) {
    out += "\nwhat the log proves\n";
    for (const LogProof& proof : story.proves)
      out += wrapped(fmt::format("{}{}   ({})", proof.ranks.empty() ? "" : ranks_within(proof.ranks, list_width) + ": ", proof.says,
                                 proof.place),
                     2);
    if (story.more_proofs > 0) out += fmt::format("  ... and {} more\n", story.more_proofs);
  }
  out += lines_of("what it leaves open", story.open) + lines_of("next", story.next);
  if (const Diagnosis* d = report.diagnosis()) out += fmt::format("\nmore     pdsim explain {}\n", d->id);
  return printable_lines(out);
}

std::string render_stacks(const logs::LogFacts& facts) {
  const std::vector<LogProof> stacks = stacks_of(facts);
  if (stacks.empty()) return {};
  std::string out = "\nwhere the ranks are\n";
  for (const LogProof& stack : stacks) out += wrapped(fmt::format("{}: {}", ranks_within(stack.ranks, list_width), stack.says), 2);
  return printable_lines(out);
}

}  // namespace pdsim::scenarios
