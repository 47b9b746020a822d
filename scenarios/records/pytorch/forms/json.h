// JSON as PyTorch's Flight Recorder writes it, and as Python writes an unpickled dump.
//
//   numbers  integers beyond 64 bits become real numbers
//   limits   256 MiB, 64 levels, Tree::most_nodes values
#pragma once

#include "core/base/result.h"
#include "scenarios/records/pytorch/forms/value.h"

#include <string_view>

namespace pdsim::scenarios::pytorch {

// Whether the text begins like a JSON object.
bool looks_like_json(std::string_view text);
// input_invalid, with the byte at which it is invalid or exceeds a limit.
Result<Tree> read_json(std::string_view text);

}  // namespace pdsim::scenarios::pytorch
