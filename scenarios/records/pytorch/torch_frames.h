// The meaning of PyTorch's own frames for a call: the part of the library that made it, and its purpose.
#pragma once

#include "core/record/purpose.h"
#include "core/record/site.h"
#include "scenarios/records/pytorch/dump.h"

#include <string_view>
#include <vector>

namespace pdsim::scenarios::pytorch {

struct TorchPart {
  std::string_view function;  // of a frame; the innermost frame that matches a row decides
  std::string_view file;      // its file ends with this; empty: any file of PyTorch
  Purpose purpose;
  Phase phase = Phase::none;
};

// The purpose of DistributedDataParallel's gradient buckets.
const Purpose& bucket_purpose();

// The row for a stack, innermost frame first; null when none matches, or the program itself made the call.
const TorchPart* torch_part_of(const std::vector<Frame>& frames);

// The part of the training around a call: the innermost frame of PyTorch's that shows it, even below the program's own, as in a
// hook that runs inside a backward. `none`: no frame does.
Phase phase_of(const std::vector<Frame>& frames);

// Whether the frame is PyTorch's and not the program's.
bool is_torch_frame(const Frame& frame);

}  // namespace pdsim::scenarios::pytorch
