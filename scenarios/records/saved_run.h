// A run read from files: its contents, and the parts that had to be left out.
#pragma once

#include "core/base/left_out.h"
#include "core/group/rank_program.h"

namespace pdsim::scenarios {

struct SavedRun {
  RunRecord run;
  LeftOut left_out;  // lines of a file, or calls and notes of a ring
};

}  // namespace pdsim::scenarios
