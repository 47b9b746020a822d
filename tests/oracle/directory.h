// Where recorded behaviour of PyTorch lies.
#pragma once

#include <cstdlib>
#include <string>

namespace pdsim::oracle {

// The folder that PDSIM_ORACLE_DIR names, or the copy in this source tree.
inline std::string directory() {
  const char* elsewhere = std::getenv("PDSIM_ORACLE_DIR");
  return elsewhere != nullptr ? elsewhere : PDSIM_TESTS_DIR "/oracle";
}

}  // namespace pdsim::oracle
