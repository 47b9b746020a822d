// The checks of a lab: the rows of lab.json's `checks`, applied to the files of a student's folder.
//
//   plan      a plan's text: proven for 1 to `ranks` ranks, and within `limits` (rounds, messages, elements of the busiest rank)
//   answers   predictions, compared with values that pdsim computes when it checks; no answer is stored anywhere
//   scenario  a scenario file: only the parts named in `may_change` differ from the one the lab begins with, and every case (seed,
//             strategy, slow rank, time of writing) ends well without a finding
#pragma once

#include "core/base/result.h"
#include "tools/labs/lab_words.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::tools {

struct LabProblem {
  std::string text;    // lines: the problem, and the smallest counterexample as a picture
  std::string replay;  // a command that shows it; empty: none
};

struct LabResult {
  std::vector<LabProblem> problems;  // one for each failed check
  std::string score;                 // "4 rounds with 16 ranks, par 4"; empty: no par
  bool beats_par = false, on_par = false;
};

// Where a lab's files are, and how to speak of them.
struct LabPlace {
  std::filesystem::path folder, start;  // the student's; what it begins with
  std::string restore;                  // the command that restores the starting files
  const LabWords& words;
};

// `checks`: lab.json. Errors: input_invalid, when lab.json itself is wrong; io_error.
Result<LabResult> check_lab(const std::string& checks, const LabPlace& place);

// Pictures for the lab's task, by the names of their files: drawn from runs, so that none is stored.
struct LabPicture {
  std::string file, text;
};
Result<std::vector<LabPicture>> pictures_of(const std::string& checks);

}  // namespace pdsim::tools
