// Dumps of PyTorch's Flight Recorder with known truth: what `pdsim diagnose --json` says of each. A new case is a folder in dumps/ and a
// row in dumps.txt:
//
//   case     the folder
//   wanted   none (no finding, and an outcome that is ok), or the findings, as in "missing-call 3; missing-call 6": id and culprits of
//            each, `-` where nobody is to blame
//   today    right, or wrong: known to be so (table.h)

#include "tests/cli/support/program.h"
#include "tests/reports/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace pdsim::reports {
namespace {

namespace fs = std::filesystem;

fs::path dumps_folder() { return fs::path(PDSIM_TESTS_DIR) / "reports" / "dumps"; }

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin = end + 1))
    parts.push_back(trimmed(text.substr(begin, end - begin)));
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::string in_one_order(std::vector<std::string> findings) {
  std::sort(findings.begin(), findings.end());
  return fmt::format("{}", fmt::join(findings, "; "));
}

struct DumpCase {
  std::string name, wanted;
  bool known_wrong = false;
};

std::vector<DumpCase> dump_cases() {
  std::vector<DumpCase> cases;
  std::ifstream in(dumps_folder().parent_path() / "dumps.txt");
  for (std::string line; std::getline(in, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<std::string> columns = split(line, '|');
    const bool is_row = columns.size() == 3 && (columns[2] == "right" || columns[2] == "wrong");
    EXPECT_TRUE(is_row) << "not a row of dumps.txt: " << line;
    if (is_row) cases.push_back({columns[0], in_one_order(split(columns[1], ';')), columns[2] == "wrong"});
  }
  return cases;
}

// The findings of a job in the words of dumps.txt.
std::string findings_text(const std::string& json) {
  const nlohmann::json job = nlohmann::json::parse(json, nullptr, false);
  if (!job.is_object() || !job.contains("findings")) return "no answer: " + json.substr(0, 100);
  std::vector<std::string> findings;
  for (const nlohmann::json& finding : job["findings"]) {
    const auto culprits = finding["culprits"].get<std::vector<int>>();
    findings.push_back(fmt::format("{} {}", finding["id"].get<std::string>(),
                                   culprits.empty() ? "-" : fmt::format("{}", fmt::join(culprits, ","))));
  }
  if (findings.empty()) return job["outcome"] == "ok" ? "none" : "no known cause";
  return in_one_order(std::move(findings));
}

TEST(DumpReports, EveryFolderOfDumpsHasOneRow) {
  std::multiset<std::string> rows, folders;
  for (const DumpCase& one : dump_cases()) rows.insert(one.name);
  for (const fs::directory_entry& entry : fs::directory_iterator(dumps_folder()))
    folders.insert(entry.path().filename().string());
  EXPECT_EQ(rows, folders);
}

TEST(DumpReports, FindTheCauseAndNobodyInHealthyJobs) {
  std::vector<CaseRow> rows;
  for (const DumpCase& one : dump_cases()) {
    const cli_tests::Ended run =
        cli_tests::run_pdsim({"diagnose", "--json", (dumps_folder() / one.name).string()}, dumps_folder());
    CaseRow row{one.name, one.wanted, findings_text(run.output), {}, one.known_wrong};
    if (row.got != row.wanted) row.problems.push_back("wanted " + row.wanted);
    rows.push_back(std::move(row));
  }
  check_table("dumps", rows);
}

}  // namespace
}  // namespace pdsim::reports
