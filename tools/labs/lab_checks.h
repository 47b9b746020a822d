// What a lab checks: the rows of lab.json's `checks`, over the files of a student's folder.
//
//   plan      a plan's text: proven for 1 to `ranks` ranks, and not over `limits` (rounds, messages, elements of the busiest rank)
//   answers   predictions, against what pdsim works out when it checks; no answer is written anywhere
//   scenario  a scenario file: every case (seed, strategy, slow rank, time of writing) ends well and nothing is found
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::tools {

struct LabProblem {
  std::string text;    // of lines: what is wrong, and the smallest counterexample as a picture
  std::string replay;  // a command that shows it; empty: there is none
};

struct LabResult {
  std::vector<LabProblem> problems;  // one of each check that fails
  std::string score;                 // "4 rounds with 16 ranks, par 4"; empty: no par
  bool beats_par = false, on_par = false;
};

// `checks`: lab.json, `folder`: the student's. Errors: input_invalid, when lab.json itself is wrong; io_error.
Result<LabResult> check_lab(const std::string& checks, const std::filesystem::path& folder);

// Pictures that the lab's task is about, by the names of their files: drawn from runs, so that they stand nowhere.
struct LabPicture {
  std::string file, text;
};
Result<std::vector<LabPicture>> pictures_of(const std::string& checks);

}  // namespace pdsim::tools
