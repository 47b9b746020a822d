// Proves a plan without running it: every send meets its receive with zero buffering, and every output element holds
// each contribution exactly once. Also counts what the cost model predicts.
//
//   method  all ranks' plans advance together; a round completes when each of its messages has met its partner (rendezvous),
//           so a cycle shows as "nobody can advance"; buffers record, per element, the input element and the ranks that it
//           sums
//   also    the rules of a transport without copies: a round receives into no slice that it sends or receives elsewhere,
//           nothing is added to memory that was never written, and the input is not written
//   cost    O(p n) memory for collectives of one vector, O(p^2 n) for those of a part per rank; up to 1,024 ranks
#pragma once

#include "core/collectives/algorithms.h"

#include <functional>
#include <string>
#include <vector>

namespace pdsim {

struct PlanCase {
  int size = 1;
  std::int64_t count = 0;
  Rank root = 0;
  int ranks_per_node = 1;
  bool in_place = false;  // input and output are the same memory, or this rank's part of it
};

// A message matched with its receive.
struct PlanMessage {
  Rank from = 0;
  Rank to = 0;
  int from_round = 0;  // in the sender's and the receiver's rounds, counted from 1
  int to_round = 0;
  int wave = 0;  // its time step if all messages take equally long, counted from 0
  Slice sent;
  Slice landed;
  bool adds = false;
};

struct PlanVerdict {
  bool ok = true;
  std::string problem;  // the first one: rank, round, cause
  std::string drawn;    // with a problem: the messages of that round, one a line, and the waiting ones
  PlanCost counted;
  Rank rank = 0;        // with a problem: its rank, and which of the rank's rounds, from 1; 0: before the first
  int round = 0;
};

// Names an algorithm and a number of ranks as problems do: "all_reduce ring with 1 rank".
std::string name_with_ranks(const Algorithm& algorithm, int ranks);

using PlanSource = std::function<Plan(const PlanArgs&)>;

PlanVerdict check_plan(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node = 1);
// The same with plans from another source: altered ones, or those of another root.
PlanVerdict check_plan(const Algorithm& algorithm, const PlanCase& at, const PlanSource& plans);

struct PlanTrace {
  std::vector<PlanMessage> messages;  // by wave and sender
  PlanCost counted;
};

// Lists all messages of a plan; of a stuck plan, those before it got stuck. Follows messages only and stores no
// elements.
//   cost    O(messages) memory, about 100 bytes each
PlanTrace trace_plan(const Algorithm& algorithm, const PlanCase& at);

}  // namespace pdsim
