// Public reports of jobs, written down as scenarios: what pdsim's report must say of each variant stands in its file, as comments.
//
//   # wants broken: outcome deadlock; diagnosis collective-mismatch; ranks 1 2; lines 18 21; says left out; not pass the same count
//   # known wrong twin: diagnosis none
//
//   variant    `*` for a file without variants; one line for each variant that is looked at
//   diagnosis  the id of the report's finding, or `none`; several ids, in the order of the findings
//   ranks      exactly the ranks that the first finding names
//   lines      of the file, all of which the report marks or names
//   says, not  what the text of the report has, in any case of letters, and has not
#include "core/base/int_set.h"
#include "scenarios/language/loader.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/run/tried_cures.h"
#include "tests/reports/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

namespace pdsim::scenarios {
namespace {

struct Wanted {
  std::string variant;  // empty: the file has none
  bool known_wrong = false;
  std::string text;
  std::vector<std::pair<std::string, std::string>> clauses;  // word and what follows it
};

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

std::vector<Wanted> wanted_of(const std::string& text) {
  std::vector<Wanted> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool wrong = line.rfind("# known wrong ", 0) == 0;
    if (!wrong && line.rfind("# wants ", 0) != 0) continue;
    const std::size_t begin = wrong ? 14 : 8, colon = line.find(':', begin);
    if (colon == std::string::npos) continue;
    Wanted wanted;
    wanted.known_wrong = wrong;
    wanted.variant = line.substr(begin, colon - begin);
    if (wanted.variant == "*") wanted.variant.clear();
    wanted.text = trimmed(line.substr(colon + 1));
    std::istringstream clauses(wanted.text);
    for (std::string clause; std::getline(clauses, clause, ';');) {
      clause = trimmed(clause);
      const std::size_t space = clause.find(' ');
      if (space != std::string::npos)
        wanted.clauses.emplace_back(clause.substr(0, space), trimmed(clause.substr(space)));
    }
    all.push_back(std::move(wanted));
  }
  return all;
}

// In small letters and without line ends, as wrapping would hide what is looked for.
std::string plain(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    const char letter = c == '\n' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (letter != ' ' || flat.empty() || flat.back() != ' ') flat += letter;
  }
  return flat;
}

std::string ids_of(const Report& report) { return report.diagnosis() ? report.diagnosis()->id : "none"; }

std::set<int> lines_of(const Report& report) {
  std::set<int> lines;
  if (report.diagnosis())
    for (const Span& span : report.diagnosis()->spans) lines.insert(span.line);
  return lines;
}

void check_lines(const Report& report, const std::string& asked, std::vector<std::string>& problems) {
  const std::set<int> lines = lines_of(report);
  std::istringstream numbers(asked);
  for (int line = 0; numbers >> line;)
    if (lines.count(line) == 0) problems.push_back(fmt::format("line {} is not marked", line));
}

void check_ranks(const Report& report, const std::string& asked, std::vector<std::string>& problems) {
  std::vector<Rank> ranks;
  std::istringstream numbers(asked);
  for (Rank rank = 0; numbers >> rank;) ranks.push_back(rank);
  const std::vector<Rank> named = report.diagnosis() ? report.diagnosis()->ranks : std::vector<Rank>{};
  if (named != ranks) problems.push_back(fmt::format("names ranks {}", fmt::join(named, " ")));
}

std::vector<std::string> problems_of(const Report& report, const std::string& shown, const Wanted& wanted) {
  std::vector<std::string> problems;
  const std::string text = plain(shown);
  for (const auto& [word, rest] : wanted.clauses) {
    const bool found = text.find(plain(rest)) != std::string::npos;
    if (word == "outcome" && rest != name_of(report.outcome))
      problems.push_back(fmt::format("outcome {}", name_of(report.outcome)));
    if (word == "diagnosis" && rest != ids_of(report)) problems.push_back(fmt::format("diagnosis {}", ids_of(report)));
    if (word == "ranks") check_ranks(report, rest, problems);
    if (word == "lines") check_lines(report, rest, problems);
    if (word == "says" && !found) problems.push_back(fmt::format("does not say \"{}\"", rest));
    if (word == "not" && found) problems.push_back(fmt::format("says \"{}\"", rest));
  }
  return problems;
}

TEST(PublicReports, ScenariosGetTheCauseTheRanksTheLinesAndTheCure) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PDSIM_SOURCE_DIR "/tests/reports/scenarios"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string problem;
  const WorldRow& world = *world_named("sim", problem);
  std::vector<reports::CaseRow> rows;
  for (const std::filesystem::path& path : files) {
    const LoadedFile file = load_file(path.string()).value();
    ASSERT_EQ(file.errors, 0) << path;
    std::vector<Report> all;
    for (const Scenario& variant : file.variants) {
      all.push_back(run_scenario(variant, world, {}).value());
      try_cures(all.back(), world, {});
    }
    const std::vector<Wanted> wanted = wanted_of(file.text);
    EXPECT_FALSE(wanted.empty()) << path << " does not say what it wants";
    for (const Wanted& w : wanted) {
      const auto at =
          std::find_if(all.begin(), all.end(), [&](const Report& r) { return r.scenario->variant == w.variant; });
      ASSERT_NE(at, all.end()) << path << " has no variant " << w.variant;
      TextOptions options;
      options.source = file.text;
      rows.push_back({path.stem().string() + (w.variant.empty() ? "" : "/" + w.variant), w.text,
                      at->diagnosis() ? at->diagnosis()->id + ": " + at->diagnosis()->headline : std::string("none"),
                      problems_of(*at, render_diagnosis(*at, options), w), w.known_wrong});
    }
  }
  reports::check_table("scenarios", rows);
}

}  // namespace
}  // namespace pdsim::scenarios
