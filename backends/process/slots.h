// Slots: how the processes of a library with a launcher of its own (MPI's mpirun) become processes of this launcher.
//
//   why    such a library passes a process its rank in the environment set by its launcher. So that launcher starts a slot holder
//          per rank, which hands over its environment and then waits; the rank itself is started by us, so that
//          it is watched, asked, killed and reaped like the ranks of every other world
//   end    the destructor dismisses the slot holders and the library's launcher, and removes their files
#pragma once

#include "core/base/result.h"

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdsim {

class Slots {
 public:
  virtual ~Slots() = default;
  // The whole environment ("NAME=value") of the process of `rank`.
  virtual const std::vector<std::string>& environment(int rank) const = 0;
};

// Blocks until all `ranks` slots are taken. `signal_mask` is for the processes it starts; it gives up with `cancelled` soon after
// `interrupted` returns true. Errors: unavailable, with the text of the library's launcher; io_error.
using TakeSlots = Result<std::unique_ptr<Slots>> (*)(int ranks, const sigset_t& signal_mask,
                                                     const std::function<bool()>& interrupted);

}  // namespace pdsim
