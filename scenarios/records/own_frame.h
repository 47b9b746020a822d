// The place in the program's own code among the frames of a stack.
#pragma once

#include "core/record/site.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// The first frame of the program's own code, not of an installed library or Python; null when there is none.
const StackFrame* own_frame(const std::vector<StackFrame>& frames);
// That frame, else the innermost; null for a stack without frames.
const StackFrame* place_frame(const std::vector<StackFrame>& frames);
// "train.py:12 in step"
std::string frame_text(const StackFrame& frame);
// The same of a stack, innermost frame first, with the innermost frame where that is a library's: "train.py:12 in step, through
// accelerate/state.py:383". Empty without frames.
std::string stack_place(const std::vector<StackFrame>& frames);

}  // namespace pdsim::scenarios
