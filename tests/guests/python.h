// The Python with PyTorch that tests of `pdsim run` take.
#pragma once

#include <string>

namespace pdsim::guest_tests {

// The first of PATH's python3 and the system's that has torch.distributed; empty: none has.
const std::string& python_with_torch();

// For GTEST_SKIP().
inline constexpr const char* no_torch = "no python3 here has PyTorch; `tools/setup --with-torch` installs it";

}  // namespace pdsim::guest_tests
