// A file of a job that its report does not use, or not in whole.
#pragma once

#include "core/base/types.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct LeftOutFile {
  std::string path;
  Rank rank = no_rank;   // by its name
  std::string reason;    // "it is not JSON from byte 201 on"
  bool is_whole = true;  // false: only parts of it are left out, named by `reason`; the rest is used
  bool is_fault = true;  // false: the file itself is fine, such as one of an earlier run
};

// A line for each: "PATH: reason". Files with one reason share a line: "PATH and 3 more files (ranks 4..7): reason".
std::vector<std::string> left_out_lines(const std::vector<LeftOutFile>& files);

// "2 files left out", counting those left out in whole; empty when there are none.
std::string left_out_count(const std::vector<LeftOutFile>& files);

}  // namespace pdsim::scenarios
