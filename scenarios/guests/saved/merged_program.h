// One program for all ranks, of what each of them called.
//
//   order    every rank finds its own operations in its own order
//   merged   ranks that make one call share one entry; ranks that do the same are compared once
#pragma once

#include "scenarios/guests/saved/rank_operations.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

struct MergedOperation {
  SavedOperation operation;
  std::vector<Rank> ranks;          // ascending
  std::vector<std::size_t> index;   // of the operation in the list of each of these
  std::size_t awaits = SavedOperation::nothing;  // of a wait: which of the merged ones
};

// By rank; waits of one entry are for one entry.
std::vector<MergedOperation> merged(const std::vector<RankOperations>& ranks);

}  // namespace pdsim::scenarios::guests
