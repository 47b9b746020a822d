// The table of cases that people have reported: for each what a report must say, and what it says.
//
//   right        everything that was wanted is in the report
//   known wrong  the case says so itself; then it must not be right, so that who cures it notices
//   print        the table and its counts go to standard output
#pragma once

#include <string>
#include <vector>

namespace pdsim::reports {

struct CaseRow {
  std::string name;  // of the case, or "case/variant"
  std::string wanted;
  std::string got;
  std::vector<std::string> problems;  // empty: right
  bool known_wrong = false;
};

// Prints the rows and "scenarios: 9 of 21 cases right, 17 of 32 rows, 15 rows known wrong", and fails the running test for each row that is not as it says.
void check_table(const std::string& title, const std::vector<CaseRow>& rows);

}  // namespace pdsim::reports
