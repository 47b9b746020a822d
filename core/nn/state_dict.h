// state_dict and its file: what a checkpoint holds, how it is loaded, and what does not fit.
//
//   keys    prefix + name, layer by layer, parameters before buffers; through DDP's wrapper the prefix is `module.`
//   file    one line per tensor (key, dtype, shape, values that read back to the same bits) and a last line with their
//           number, so that a file that was cut short is known
#pragma once

#include "core/nn/module.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::nn {

constexpr std::string_view wrapper_prefix = "module.";

using StateDict = std::vector<std::pair<std::string, Tensor>>;

StateDict state_dict(Module& module, std::string_view prefix);  // copies

// As PyTorch's: what fits is copied in place, also when something else does not; then state_dict_mismatch names missing and
// unexpected keys (without `strict`, neither matters) and shapes that differ. `class_name` is whose load it was.
Status load_state_dict(Module& module, const StateDict& saved, std::string_view prefix, bool strict,
                       std::string_view class_name);

std::string checkpoint_text(const StateDict& state);
// checkpoint_corrupt, with the line that is wrong. `path` is for the message.
Result<StateDict> parse_checkpoint(std::string_view text, std::string_view path);

}  // namespace pdsim::nn
