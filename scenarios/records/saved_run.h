// A run as it was read from files: what is in them, and what had to be left out of it.
#pragma once

#include "core/base/left_out.h"
#include "core/group/rank_program.h"

namespace pdsim::scenarios {

struct SavedRun {
  RunRecord run;
  LeftOut left_out;  // lines of a file, or calls and notes of a ring
};

}  // namespace pdsim::scenarios
