#include "tests/reports/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

namespace pdsim::reports {

void check_table(const std::string& title, const std::vector<CaseRow>& rows) {
  EXPECT_FALSE(rows.empty()) << title << ": there is no case";
  std::size_t width = 0, known = 0;
  for (const CaseRow& row : rows) width = std::max(width, row.name.size());
  for (const CaseRow& row : rows) {
    const bool right = row.problems.empty();
    known += row.known_wrong ? 1 : 0;
    std::cout << fmt::format("{:<11}  {:<{}}  wanted {}; got {}\n",
                             right             ? "right"
                             : row.known_wrong ? "known wrong"
                                               : "WRONG",
                             row.name, width, row.wanted, row.got);
    if (!right) std::cout << fmt::format("{:<11}  {:<{}}  {}\n", "", "", width, fmt::join(row.problems, "; "));
    if (row.known_wrong)
      EXPECT_FALSE(right) << row.name << " is right now: take `known wrong` out of the case";
    else
      EXPECT_TRUE(right) << row.name << ": " << fmt::format("{}", fmt::join(row.problems, "; "));
  }
  const auto right = std::count_if(rows.begin(), rows.end(), [](const CaseRow& r) { return r.problems.empty(); });
  std::map<std::string, bool> cases;  // all of whose rows are right
  for (const CaseRow& row : rows) {
    bool& all = cases.try_emplace(row.name.substr(0, row.name.find('/')), true).first->second;
    all = all && row.problems.empty();
  }
  const auto whole = std::count_if(cases.begin(), cases.end(), [](const auto& c) { return c.second; });
  std::cout << fmt::format("{}: {} of {} cases right, {} of {} rows, {} rows known wrong\n", title, whole, cases.size(),
                           right, rows.size(), known);
}

}  // namespace pdsim::reports
