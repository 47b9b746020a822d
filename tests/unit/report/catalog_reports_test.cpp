// What the catalog's reports say, as facts: the files state every verdict and diagnosis themselves, and the
// table beside this file what else a diagnosis establishes. How a report is laid out is in tests/cli/snapshots.
// The catalog is run once for all of it: tests/CMakeLists.txt keeps the suite in one process.
//
//   rewrite   PDSIM_UPDATE_SNAPSHOTS=1 test_report --gtest_filter=CatalogReports.* ; then read the difference like code
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/fix_proof.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/language/loader.h"
#include "scenarios/reports/html/html_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/text/text_layout.h"
#include "tests/helpers/catalog_files.h"
#include "tests/unit/report/well_formed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {
namespace {

const char* const table_file = PDSIM_TESTS_DIR "/unit/report/catalog_diagnoses.txt";

struct FileRun {
  LoadedFile file;
  std::vector<Report> reports;
};

// Each file is run once for all tests of this suite.
class CatalogReports : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string problem;
    const WorldRow& world = *world_named("sim", problem);
    for (const std::filesystem::path& path : catalog_files()) {
      FileRun& run = runs().emplace_back(FileRun{load_file(path.string()).value(), {}});
      for (const Scenario& variant : run.file.variants) run.reports.push_back(run_scenario(variant, world, {}).value());
    }
  }
  static void TearDownTestSuite() { runs().clear(); }

  static std::vector<FileRun>& runs() {
    static std::vector<FileRun> all = [] {
      std::vector<FileRun> room;
      room.reserve(catalog_files().size());  // reports point at the variants of their file
      return room;
    }();
    return all;
  }
};

std::string variant_of(const Report& report) {
  const Scenario& s = *report.scenario;
  return s.variant.empty() ? s.name : s.name + "/" + s.variant;
}

TEST_F(CatalogReports, EveryVariantEndsAsItsFileSays) {
  ASSERT_FALSE(runs().empty());
  for (const FileRun& run : runs())
    for (const Report& report : run.reports)
      EXPECT_EQ(report.verdict, Verdict::pass)
          << variant_of(report) << ": " << (report.failures.empty() ? "" : report.failures.front().got);
}

TEST_F(CatalogReports, EveryFileStatesTheDiagnosisOfWhatGoesWrong) {
  for (const FileRun& run : runs())
    for (const Report& report : run.reports) {
      const Expect& expect = report.scenario->expect;
      if (report.outcome == Outcome::ok && !report.diagnosis()) continue;
      EXPECT_TRUE(expect.diagnosis) << variant_of(report) << " does not state its diagnosis";
      if (!expect.diagnosis) continue;
      EXPECT_EQ(**expect.diagnosis, report.diagnosis() ? report.diagnosis()->id : "none") << variant_of(report);
    }
}

// The record alone, as `pdsim diagnose` has it where the scenario's text was not kept.
TEST_F(CatalogReports, RulesFindTheSameInTheRecordAlone) {
  for (FileRun& run : runs())
    for (Report& report : run.reports) {
      const Scenario* scenario = std::exchange(report.scenario, nullptr);
      const std::optional<Diagnosis> alone = diagnose(report);
      report.scenario = scenario;
      ASSERT_EQ(alone.has_value(), report.diagnosis() != nullptr) << variant_of(report);
      if (!alone) continue;
      EXPECT_EQ(alone->id, report.diagnosis()->id) << variant_of(report);
      EXPECT_EQ(alone->ranks, report.diagnosis()->ranks) << variant_of(report);
      EXPECT_EQ(alone->headline, report.diagnosis()->headline) << variant_of(report);
      EXPECT_EQ(alone->cause, report.diagnosis()->cause) << variant_of(report);
      EXPECT_EQ(alone->fix.text, report.diagnosis()->fix.text) << variant_of(report);
    }
}

// "unused_params/broken  unused-parameters  culprits 1  lines 21 23  from 1.14ms  cured by fixed"
std::string row_of(const Report& report, const std::vector<Report>& reports) {
  const Diagnosis& d = *report.diagnosis();
  std::string row = fmt::format("{}  {}  culprits {}", variant_of(report), d.id, fmt::join(d.ranks, " "));
  if (!d.parameters.empty()) row += fmt::format("  parameters {}", fmt::join(d.parameters, " "));
  if (!d.spans.empty()) row += "  lines";
  for (const Span& span : d.spans) row += fmt::format(" {}{}", span.line, span.primary ? "*" : "");
  if (!d.inevitable.empty()) row += fmt::format("  from {}", to_string(d.inevitable_at));
  const std::vector<FixProof> proofs = fix_proofs(report, reports);
  if (!proofs.empty()) row += "  cured by";
  for (const FixProof& proof : proofs) row += " " + proof.report->scenario->variant;
  return row + "\n";
}

TEST_F(CatalogReports, EveryDiagnosisNamesTheCulpritsPlacesAndCuresOfTheTable) {
  std::string rows;
  for (const FileRun& run : runs())
    for (const Report& report : run.reports)
      if (report.diagnosis()) rows += row_of(report, run.reports);
  if (std::getenv("PDSIM_UPDATE_SNAPSHOTS") != nullptr) std::ofstream(table_file) << rows;
  std::ifstream table(table_file);
  std::istringstream got(rows);
  for (std::string expected, line; std::getline(table, expected);) {
    std::getline(got, line);
    EXPECT_EQ(line, expected);
  }
  std::string rest;
  EXPECT_FALSE(std::getline(got, rest)) << "the table lacks: " << rest;
}

TEST_F(CatalogReports, EveryDiagnosisMarksWhatTheFileHasThere) {
  for (const FileRun& run : runs())
    for (const Report& report : run.reports) {
      if (!report.diagnosis()) continue;
      const auto lines = std::count(run.file.text.begin(), run.file.text.end(), '\n');
      for (const Span& span : report.diagnosis()->spans) {
        EXPECT_GE(span.line, 1) << variant_of(report);
        EXPECT_LE(span.line, lines) << variant_of(report);
        EXPECT_FALSE(span.label.empty()) << variant_of(report);
      }
    }
}

// At most 65 lines of 100 columns; the command that replays the run stays in one line, to be copied.
void expect_a_page(std::string text, const std::string& name) {
  const std::string checkout = PDSIM_SOURCE_DIR "/";  // users stand in it
  for (std::size_t at = 0; (at = text.find(checkout, at)) != std::string::npos;) text.erase(at, checkout.size());
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 65) << name;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(width_of(line) <= text_width || line.starts_with("replay ")) << name << ": " << line;
}

TEST_F(CatalogReports, EveryVariantFitsAPageAlone) {
  for (const FileRun& run : runs())
    for (const Report& report : run.reports) expect_a_page(render_text({report}, {}), variant_of(report));
}

TEST_F(CatalogReports, EveryFileFitsAPageWithAllItsVariants) {
  TextOptions options;
  for (const FileRun& run : runs()) {
    options.source = run.file.text;
    expect_a_page(render_text(run.reports, options), run.file.file);
  }
}

// Dots that stand for the rest of a word, a list or a cell. Those of code (`init(timeout=...)`), of a row "... and 3 more" and of a
// long source line, which is shown around its caret, say something else; so do those after a whole sentence, and the dots of a timeline.
std::string cut_line(const std::string& text) {
  const std::regex source(R"(^ *\d+ \| )"), cut_word(R"([\w\]}"'`,;:-]\.\.\.(?!\.)|[^.\s] \.\.\.( *$|   ))");
  std::istringstream lines(text);
  bool in_timeline = false;
  for (std::string line; std::getline(lines, line);) {
    in_timeline = line.starts_with("timeline ") || (in_timeline && !line.empty());
    if (in_timeline || std::regex_search(line, source)) continue;
    if (std::regex_search(line, cut_word) || line.find("\u2026") != std::string::npos) return line;
  }
  return {};
}

TEST_F(CatalogReports, NoReportEndsAWordOrAListInDots) {
  EXPECT_EQ(cut_line("rank 1   which called b..."), "rank 1   which called b...");
  EXPECT_EQ(cut_line("reduce_scatter, re...  none"), "reduce_scatter, re...  none");
  EXPECT_EQ(cut_line("  init(timeout=timedelta(...)) longer\n  ... and 3 more\n12 | steps: ...\n"), "");
  TextOptions options;
  for (const FileRun& run : runs()) {
    options.source = run.file.text;
    EXPECT_EQ(cut_line(render_text(run.reports, options)), "") << run.file.file;
    for (const Report& report : run.reports)
      EXPECT_EQ(cut_line(render_text({report}, options)), "") << variant_of(report);
  }
}

TEST_F(CatalogReports, NoVariantThatShowsThePitfallProvesAFix) {
  for (const FileRun& run : runs())
    for (const Report& report : run.reports) {
      if (!report.diagnosis()) continue;
      for (const FixProof& proof : fix_proofs(report, run.reports)) {
        EXPECT_EQ(proof.report->scenario->role(), VariantRole::cure) << variant_of(report) << " " << proof.report->scenario->variant;
        EXPECT_FALSE(proof.report->scenario->variant.starts_with("broken")) << variant_of(report);
      }
    }
}

// The document of a variant, as `pdsim check --print` prints it, is a scenario of its own.
void expect_that_its_document_runs_alike(const LoadedFile& file, const Report& report, const WorldRow& world) {
  SCOPED_TRACE(variant_of(report));
  const LoadedFile printed = load_text(file.file, effective_document(file, report.scenario->variant));
  ASSERT_EQ(printed.errors, 0) << render(printed, printed.diagnostics.front());
  ASSERT_EQ(printed.variants.size(), 1U);
  const Result<Report> again = run_scenario(printed.variants.front(), world, {});
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(report.run.fingerprint.has_value());
  EXPECT_EQ(again->run.fingerprint, report.run.fingerprint);
  EXPECT_EQ(again->verdict, report.verdict);
}

TEST_F(CatalogReports, ThePrintedDocumentOfEveryVariantRunsAsTheVariant) {
  std::string problem;
  const WorldRow& world = *world_named("sim", problem);
  for (const FileRun& run : runs())
    for (const Report& report : run.reports) expect_that_its_document_runs_alike(run.file, report, world);
}

TEST_F(CatalogReports, EveryHtmlPageIsWellFormed) {
  for (const FileRun& run : runs())
    for (const Report& report : run.reports)
      EXPECT_EQ(first_problem(render_html(report, render_text({report}, {}))), "") << variant_of(report);
}

}  // namespace
}  // namespace pdsim::scenarios
