#include "tests/guests/python.h"

#include <cstdlib>

namespace pdsim::guest_tests {

const std::string& python_with_torch() {
  static const std::string found = [] {
    for (const std::string candidate : {"python3", "/usr/bin/python3"})
      if (std::system((candidate + " -c 'import torch.distributed' >/dev/null 2>&1").c_str()) == 0) return candidate;
    return std::string();
  }();
  return found;
}

}  // namespace pdsim::guest_tests
