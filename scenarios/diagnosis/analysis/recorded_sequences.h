// The collectives of each group as its ranks recorded them, as numbers of the places that made them.
#pragma once

#include "core/group/rank_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// One rank's calls in a group, from the first number that is compared on, without gaps.
struct RecordedSequence {
  Rank rank = 0;
  std::vector<const Call*> calls;
  std::vector<int> places;
  std::vector<int> lines;  // the same with the innermost line alone, no matter which function called that one; -1: not known
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

  // By size, the largest first; more than `most`: none. Linear in the calls and classes.
  std::vector<SequenceClass> classes(std::size_t most) const;
};

// Of the groups in which several ranks made calls; a group with a record that has gaps is left out. Linear in the calls.
std::vector<GroupSequences> recorded_sequences(const RunRecord& run);

}  // namespace pdsim::scenarios
