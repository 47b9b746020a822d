// The collectives of each group as its ranks recorded them, with the places that made them as numbers.
#pragma once

#include "core/group/rank_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// One rank's calls in a group, from the first compared number, without gaps.
struct RecordedSequence {
  Rank rank = 0;
  std::vector<const Call*> calls;
  std::vector<int> places;
  std::vector<int> lines;  // the same by the innermost line alone, whatever function called it; -1: not known
};

// Ranks whose sequences agree as far as both go.
struct SequenceClass {
  std::vector<Rank> ranks;             // sorted
  const RecordedSequence* longest = nullptr;
};

struct GroupSequences {
  std::string group;
  Seq first = 0;  // number of the first call of each sequence
  std::vector<RecordedSequence> sequences;  // of ranks with calls in it, by rank

  // By size, the largest first; empty if there are more than `most`. Linear in the calls and classes.
  std::vector<SequenceClass> classes(std::size_t most) const;
};

// For the groups in which several ranks made calls; a group with gaps in a record is left out. Linear in the calls.
std::vector<GroupSequences> recorded_sequences(const RunRecord& run);

}  // namespace pdsim::scenarios
