// The environment of a rank that `pdsim launch` starts.
#pragma once

#include <string>
#include <vector>

namespace pdsim {

// `base` without what an mpirun, srun or torchrun around the launcher has told it; `with_library` keeps what a library's own
// launcher has put there for this rank (slots.h).
std::vector<std::string> launched_environment(const std::vector<std::string>& base, bool with_library, int rank,
                                              int ranks, int port, const std::string& record);

// That of this process.
std::vector<std::string> own_environment();

}  // namespace pdsim
