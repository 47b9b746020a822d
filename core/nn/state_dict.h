// state_dict and its file: the contents of a checkpoint, how it is loaded, and the errors of a mismatch.
//
//   keys    prefix + name, layer by layer, parameters before buffers; through DDP's wrapper the prefix is `module.`
//   file    one line per tensor (key, dtype, shape, values that read back to the same bits) and a last line with their
//           number, so that a truncated file is detected
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

// As PyTorch's: matching tensors are copied in place even when others do not match; state_dict_mismatch then names missing and
// unexpected keys (without `strict`, both are ignored) and shapes that differ. `class_name` is the class whose load failed.
Status load_state_dict(Module& module, const StateDict& saved, std::string_view prefix, bool strict,
                       std::string_view class_name);

std::string checkpoint_text(const StateDict& state);
// Errors: checkpoint_corrupt, with the bad line. `path` is for the message.
Result<StateDict> parse_checkpoint(std::string_view text, std::string_view path);

}  // namespace pdsim::nn
