// Finds where some ranks' calls diverge from those of most, by the places that made them: for records without a program. The
// sequences of each group are aligned as a whole.
//
//   one call   calls of two ranks from one place: operation, and the program's frames or the purpose in PyTorch's own; without
//              frames its size and element type too. A place of one side and a place of the other count as one call where each
//              side has only its own: `if rank == 0: broadcast(...) else: broadcast(...)`; and where one function makes both,
//              called from other lines
//   compared   from the first number that the records of all members hold without gaps (recorded_sequences.h)
//   reference  the largest set of ranks whose sequences agree; in a tie the side whose sequence ranks of other groups share, as
//              they run the same program on other data; where these tie too, neither side is to blame
//   ends       a record ends where its rank waits, so calls that only one side has at the end are ignored
//   reordered  where both sides made the same calls, and near each other, their order is the difference, in however many rounds
//   apart      where the ranks stop before their calls agree again, the first calls that met are a difference only if a later
//              pair does not match, or one side has no call left: otherwise they may be one call of two places
//   skipped    a call that comes again before the calls that followed it in the round before is not one call more: those are left out
//   sure       only swaps of neighbours, or calls that one side alone makes and after which both continue the same way: that is
//              the whole difference, even where nothing failed. Otherwise only the first calls that met are known to differ
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

// The calls of one place.
struct PlaceCalls {
  int place = 0;
  RecordedCall first;
  std::vector<Seq> numbers;
};

struct SwappedCalls {
  RecordedCall mine, theirs;  // the culprits' first call, and the others'
};

// How often each rank called a place, where some ranks left its loop before the others: fewest first.
struct PlaceRounds {
  RecordedCall call;
  std::vector<std::pair<std::int64_t, std::vector<Rank>>> ranks_by_rounds;
};

// Where the calls went apart, one side called its place once more than the other had: it may be in a round more of a loop, or the other side
// has made a call of its own instead.
struct OneRoundMore {
  RecordedCall call;  // that began the round
  bool is_mine = false;
  std::int64_t rounds = 0;  // of the side that made more
};

struct RecordedDifference {
  std::string group;
  Seq first_number = 0;  // the first number that was compared
  std::vector<Rank> culprits, others;
  bool tie = false;
  bool is_sure = false;
  bool skipped = false;         // the culprits began the next round early: `left_out` is the rest of the one before
  bool stays_apart = false;     // after the first difference no two calls are of one place, and that stopped the ranks
  std::size_t alike_after = 0;  // pairs of one place after the last difference
  RecordedCall mine, theirs;    // the first two calls of one number that come from different places
  std::vector<PlaceCalls> extra, left_out;
  std::vector<SwappedCalls> swapped;
  std::optional<PlaceRounds> rounds;
  std::optional<OneRoundMore> one_more;  // where it stays apart

  Rank my_rank() const { return mine.rank; }
  Rank their_rank() const { return theirs.rank; }
};

// The difference whose calls met first; nothing where the places agree.
std::optional<RecordedDifference> recorded_difference(const RunRecord& run);
// The first difference of each group that has one.
std::vector<RecordedDifference> recorded_differences(const RunRecord& run);

// How often each rank of the call's group called its place; nothing where a rank never did, or all did equally often.
struct LoopRounds {
  PlaceRounds place;
  Seq first_number = 0;  // the first number that was counted
};
std::optional<LoopRounds> rounds_of(const RunRecord& run, const RecordedCall& call);

}  // namespace pdsim::scenarios
