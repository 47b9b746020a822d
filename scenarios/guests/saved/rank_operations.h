// Turns one rank's calls into operations of the scenario language, in its order.
//
//   waits   a call that ended before the rank's next one is written as one that is waited for at once; another is asynchronous, and its
//           wait stands before the first call that came after its end. Where a rank hangs, it waits for what is open
//   groups  by the names that GroupNames gives them
//   lost    what the language has no word for is named in `left_out`, never dropped without a word
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/guests/saved/group_names.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// A line of the user's source; empty where nobody has it.
using SourceLine = std::function<std::string(const std::string& file, int line)>;

struct SavedOperation {
  static constexpr std::size_t nothing = static_cast<std::size_t>(-1);
  std::string name;               // all_reduce, isend, compute ...
  std::string options;            // "count: 4, op: max"; empty: none
  std::string place;              // "train.py:12  dist.barrier()"
  bool is_async = false;          // has a wait of its own, or none
  bool stops = false;             // a fault ends or stops the rank before it
  std::size_t awaits = nothing;   // of a wait: which of the rank's operations
  std::string group;              // of a collective: where it is the `seq`-th
  Seq seq = -1;
  bool is_shadow = false;  // a rank that has run out of inputs makes it at the end of join(), for what the others call
  bool operator==(const SavedOperation&) const = default;
};

// How a rank ends that neither returns nor raises.
enum class SavedStop : std::uint8_t { none, crash, hang };

struct RankOperations {
  std::vector<SavedOperation> operations;
  SavedStop stop = SavedStop::none;  // at the last operation, a `raise` that `stops`
  std::vector<std::string> left_out;
};

RankOperations operations_of(const RankLog& log, const GroupNames& groups, const SourceLine& source);

}  // namespace pdsim::scenarios::guests
