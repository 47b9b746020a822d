// A table of cases whose truth is known: what `pdsim diagnose --json` ought to say of each, and whether it does so today.
//
//   row      case | wanted | today; `#` begins a comment
//   wanted   none (no finding, and an outcome that is ok), or the findings, as in "missing-call 3; missing-call 6": the id and the culprits of each, `-` where nobody is to blame
//   today    right, or wrong: a case that is known to be wrong, so that the suite tells when it turns right
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::report_tests {

struct Case {
  std::string name, wanted;
  bool is_right = true;
};

// The rows of a table; an entry named `?` where a line is none.
std::vector<Case> cases_of(const std::filesystem::path& table);

// The findings of one job, in the words of the table, sorted; the text itself where it is not such an object.
std::string findings_text(const std::string& json);

// Compares all, prints the table and the counts; returns what a person must look at, a line per case, empty when nothing.
struct Got {
  Case wanted;
  std::string got;
};
std::string compared(const std::string& title, const std::vector<Got>& all);

}  // namespace pdsim::report_tests
