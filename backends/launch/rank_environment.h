// The environment of a rank that `pdsim launch` starts.
#pragma once

#include <string>
#include <vector>

namespace pdsim {

// `base` without the variables of an mpirun, srun or torchrun around the launcher; `with_library` keeps those that a library's
// own launcher has set for this rank (slots.h).
std::vector<std::string> launched_environment(const std::vector<std::string>& base, bool with_library, int rank,
                                              int ranks, int port, const std::string& record);

// The environment of this process.
std::vector<std::string> own_environment();

}  // namespace pdsim
