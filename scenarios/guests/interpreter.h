// Finds out what a Python interpreter has for `pdsim run`, without importing anything of the user's.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace pdsim::scenarios::guests {

struct Interpreter {
  std::string path;    // as it calls itself; empty: `program` is not a Python, or does not answer within some seconds
  std::string python;  // 3.11.2
  std::string torch;   // 1.13.0; empty: it has none
};

Interpreter interpreter(const std::string& program);

// Where one looks for a Python that has PyTorch.
inline constexpr std::array<std::string_view, 2> usual_interpreters{"python3", "/usr/bin/python3"};

}  // namespace pdsim::scenarios::guests
