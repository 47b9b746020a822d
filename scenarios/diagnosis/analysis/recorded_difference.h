// Where the calls of some ranks part from those of most, by the places that made them: of records that come without a program. The
// sequences of each group are aligned as a whole.
//
//   one call   of two ranks comes from one place: operation, and the program's frames or what PyTorch's own say it is for; without
//              frames its size and element type too. A place of one side and a place of the other are one call where each side has
//              only its own: `if rank == 0: broadcast(...) else: broadcast(...)`; and where one function makes both, called from other lines
//   compared   from the first number on that the records of all members hold, without gaps (recorded_sequences.h)
//   reference  the ranks whose sequences agree and that are most; in a tie the side whose sequence ranks of other groups have, who run the
//              same program on other data; where these are equally many too, neither side is to blame
//   ends       a record ends where its rank waits, so calls that only one side has at the end do not count
//   apart      where the ranks stop before their calls agree again, the first calls that met are a difference only if a later pair does
//              not fit, or one side has no call left: else they may be one call of two places
//   sure       swaps of neighbours alone, or calls that one side alone makes and after which both go on the same way: that is the whole
//              difference, also where nothing failed. Else only the first calls that met are known to differ
#pragma once

#include "core/group/rank_program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

struct RecordedCall {
  Rank rank = 0;
  std::int64_t id = -1;  // in its log
};

// Calls of one place.
struct PlaceCalls {
  int place = 0;
  RecordedCall first;
  std::vector<Seq> numbers;
};

struct SwappedCalls {
  RecordedCall mine, theirs;  // what the culprits make first, and what the others do
};

// How often a place was called on each rank, where some left its loop before the others: the fewest first.
struct PlaceRounds {
  RecordedCall call;
  std::vector<std::pair<std::int64_t, std::vector<Rank>>> ranks_by_rounds;
};

struct RecordedDifference {
  std::string group;
  Seq first_number = 0;  // the first that was compared
  std::vector<Rank> culprits, others;
  bool tie = false;
  bool is_sure = false;
  bool stays_apart = false;     // from the first difference on no two calls are of one place, and that stopped the ranks
  std::size_t alike_after = 0;  // pairs of one place behind the last difference
  RecordedCall mine, theirs;    // the first of one number that come from different places
  std::vector<PlaceCalls> extra, left_out;
  std::vector<SwappedCalls> swapped;
  std::optional<PlaceRounds> rounds;

  Rank my_rank() const { return mine.rank; }
  Rank their_rank() const { return theirs.rank; }
};

// The one whose calls met first; nothing where the places agree.
std::optional<RecordedDifference> recorded_difference(const RunRecord& run);
// The first of each group that has one.
std::vector<RecordedDifference> recorded_differences(const RunRecord& run);

// How often each rank of the call's group made calls of its place; nothing where one made none, or all the same number.
struct LoopRounds {
  PlaceRounds place;
  Seq first_number = 0;  // the first that was counted
};
std::optional<LoopRounds> rounds_of(const RunRecord& run, const RecordedCall& call);

}  // namespace pdsim::scenarios
