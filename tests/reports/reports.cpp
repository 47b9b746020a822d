#include "tests/reports/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>

namespace pdsim::report_tests {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin = end + 1))
    parts.push_back(trimmed(text.substr(begin, end - begin)));
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

// The same findings in one order.
std::string in_order(const std::string& findings) {
  std::vector<std::string> parts = split(findings, ';');
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::vector<Case> cases_of(const std::filesystem::path& table) {
  std::vector<Case> cases;
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<std::string> columns = split(line, '|');
    if (columns.size() != 3 || (columns[2] != "right" && columns[2] != "wrong")) {
      cases.push_back({"?", line, true});
      continue;
    }
    cases.push_back({columns[0], in_order(columns[1]), columns[2] == "right"});
  }
  return cases;
}

std::string findings_text(const std::string& json) {
  const nlohmann::json job = nlohmann::json::parse(json, nullptr, false);
  if (!job.is_object() || !job.contains("findings")) return "no answer: " + json.substr(0, 100);
  std::vector<std::string> parts;
  for (const nlohmann::json& finding : job["findings"]) {
    const auto culprits = finding["culprits"].get<std::vector<int>>();
    parts.push_back(fmt::format("{} {}", finding["id"].get<std::string>(),
                                culprits.empty() ? "-" : fmt::format("{}", fmt::join(culprits, ","))));
  }
  if (parts.empty()) return job["outcome"] == "ok" ? "none" : "no known cause";
  return in_order(fmt::format("{}", fmt::join(parts, "; ")));
}

std::string compared(const std::string& title, const std::vector<Got>& all) {
  std::string problems, table;
  int right = 0, false_alarms = 0;
  for (const Got& one : all) {
    const bool is_right = one.got == one.wanted.wanted;
    right += is_right ? 1 : 0;
    false_alarms += one.wanted.wanted == "none" && !is_right ? 1 : 0;
    table += fmt::format("  {:<6} {:<34} {:<28} {}\n", is_right ? "right" : "WRONG", one.wanted.name, one.wanted.wanted,
                         is_right ? "" : one.got);
    if (is_right == one.wanted.is_right) continue;
    problems += is_right ? fmt::format("{} is right now: say so in its row\n", one.wanted.name)
                         : fmt::format("{}: wanted {}, got {}\n", one.wanted.name, one.wanted.wanted, one.got);
  }
  std::cout << title << ": " << right << " of " << all.size() << " right, " << false_alarms << " false alarms\n"
            << table;
  return problems;
}

}  // namespace pdsim::report_tests
