// What a call runs: a row of the table, by name or as a library would choose, or the caller's own algorithm, once it is proven.
#pragma once

#include "core/collectives/algorithms.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// The callers' own algorithms that a world or a process group has met, so that each is proven once.
//
//   proven    with plan_proof.h, for the number of ranks and the placement of the group, every root there, counts around the
//             number of ranks, in and out of place; groups of more than 128 ranks by a half, a quarter ... of them
//   apart     a plan in C++ is proven in a forked process (proof/apart.h), so that one that divides by zero, leaves its vectors or never
//             comes back is refused like any other
//   owner     one world or one group; the rows themselves are not kept
//   threads   one at a time
class AlgorithmProofs {
 public:
  // Errors: invalid_argument, with the checker's counterexample as its sentence, and the messages of the round that goes wrong as the
  // fact `counterexample`. Costs milliseconds for few ranks and up to a second for 128 the first time, a
  // comparison per known algorithm later.
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

// What a call runs in a group of `size` ranks: its own algorithm if it brought one, else the one it names; auto:mpich,
// auto:openmpi, auto:nccl and auto:gloo choose by size as those libraries do (tuning.h).
//   errors   unsupported; invalid_argument, when its own algorithm is of another collective or fails its proof
Result<const Algorithm*> find_algorithm(const Collective& call, AlgorithmProofs& proofs, int size,
                                        int ranks_per_node = 1);

// The same over a library that has collectives of its own, or lacks this one: null where `native` or `auto` mean the library's.
//   errors   also unsupported, where `native` was asked for and `library` has none
Result<const Algorithm*> find_plan(const Collective& call, AlgorithmProofs& proofs, int size, bool has_native,
                                   std::string_view library);

}  // namespace pdsim
