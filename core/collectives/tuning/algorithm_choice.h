// Chooses the algorithm of a call: a row of the table, by name or as a library would choose, or the caller's own algorithm once
// it is proven.
#pragma once

#include "core/collectives/algorithms.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// The callers' own algorithms that a world or a process group has seen, so that each is proven once.
//
//   proven    with plan_proof.h, for the group's number of ranks and placement, every root in it, counts around the
//             number of ranks, in and out of place; groups of more than 128 ranks for a half, a quarter ... of them
//   apart     a plan in C++ is proven in a forked process (proof/apart.h), so that one that divides by zero, leaves its vectors
//             or never returns is refused like any other
//   owner     one world or one group; the rows themselves are not kept
//   threads   one at a time
class AlgorithmProofs {
 public:
  // Errors: invalid_argument, with the checker's counterexample as its sentence, and the messages of the failing round as the
  // fact `counterexample`. The first check costs milliseconds for few ranks and up to a second for 128, a later one a comparison
  // per known algorithm.
  Status check(const Algorithm& own, int size, int ranks_per_node);

 private:
  struct Known {
    Algorithm row;
    std::string name;
    int size, ranks_per_node;
    Status verdict;
  };
  std::vector<Known> known_;
};

// The algorithm of a call in a group of `size` ranks: the call's own if it has one, else the one it names; auto:mpich,
// auto:openmpi, auto:nccl and auto:gloo choose by size as those libraries do (tuning.h).
//   errors   unsupported; invalid_argument, when its own algorithm is for another collective or fails its proof
Result<const Algorithm*> find_algorithm(const Collective& call, AlgorithmProofs& proofs, int size,
                                        int ranks_per_node = 1);

// The same for a library that has native collectives, or lacks this one: null where `native` or `auto` selects the library's own.
//   errors   also unsupported, where the call asks for `native` and `library` has none
Result<const Algorithm*> find_plan(const Collective& call, AlgorithmProofs& proofs, int size, bool has_native,
                                   std::string_view library);

}  // namespace pdsim
