// The run before this one, which has left the file of the script's FileStore. Its ranks are played first, as a launch of their own that dies
// without clean-up, so that the script's ranks find in the store what they would find in the file.
//
//   keys       the script's and PyTorch's, as the file has them
//   addresses  of the simulated world, for as many ranks as had put theirs into the file
//   source     PyTorch torch/csrc/distributed/c10d/FileStore.cpp, ProcessGroupGloo.cpp (1.13 and 2.14)
#pragma once

#include "core/group/rank_program.h"
#include "core/store/log_records.h"

#include <optional>
#include <string>

namespace pdsim::scenarios::guests {

struct EarlierRun {
  std::string store;  // its name in the script's requests
  std::string path;
  int ranks = 0;   // that had begun to make the world's group; 0: the file has keys of the script alone
  KeyValues keys;  // of the file, without its own counters
};

// Returns the contents of a FileStore's file, which the script's requests name `store` (file:/its/path). Nothing: there is no
// such file, or it is empty. Errors: store_corrupt (it holds something else), limit_exceeded (more than 16 MiB), io_error.
Result<std::optional<EarlierRun>> earlier_run_of(const std::string& store);

// A rank's launch of it.
ProgramResult play(RankEnvironment& env, const EarlierRun& earlier);

}  // namespace pdsim::scenarios::guests
