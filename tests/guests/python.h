// The Python with PyTorch that tests of `pdsim run` take.
#pragma once

#include <string>
#include <utility>

namespace pdsim::guest_tests {

// The interpreter that PDSIM_GUEST_PYTHON names, else the first of the system's python3 and PATH's that has torch.distributed; empty:
// none has.
const std::string& python_with_torch();

// Its PyTorch's version, such as 2, 14; 0, 0: there is none.
std::pair<int, int> torch_version();

// Whether PDSIM_GUEST_PYTHON names an interpreter: then the scripts are run, too, that only newer versions can run.
bool python_is_named();

// For GTEST_SKIP().
inline constexpr const char* no_torch = "no python3 here has PyTorch; `tools/setup --with-torch` installs it";

}  // namespace pdsim::guest_tests
