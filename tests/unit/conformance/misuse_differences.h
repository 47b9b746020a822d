// Where our library differs from PyTorch in the recorded misuses, and why.
#pragma once

#include <string_view>

namespace pdsim::oracle {

struct MisuseDifference {
  std::string_view name;  // of the program, with -detail where TORCH_DISTRIBUTED_DEBUG is set
  std::string_view why;
  std::string_view profile{};  // empty: every version
};

// Null: it ends as in PyTorch.
const MisuseDifference* misuse_difference(std::string_view name, std::string_view profile);

}  // namespace pdsim::oracle
