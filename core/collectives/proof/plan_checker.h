// Proves a plan without running it: every send meets its receive with zero buffering, and every output element holds
// each contribution exactly once. Also counts what the cost model predicts.
//
//   method  all ranks' plans advance together; a round completes when each of its messages met its partner
//           (rendezvous), so a cycle shows as "nobody can advance"; buffers hold, per element, of which input element
//           and of which ranks it is the sum
//   also    what a transport without copies needs: a round receives into nothing that it sends or receives elsewhere,
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

// A message that met its partner.
struct PlanMessage {
  Rank from = 0;
  Rank to = 0;
  int from_round = 0;  // the sender's, counted from 1, and the receiver's
  int to_round = 0;
  int wave = 0;  // when, if every message takes as long as another: counted from 0
  Slice sent;
  Slice landed;
  bool adds = false;
};

struct PlanVerdict {
  bool ok = true;
  std::string problem;  // the first one: who, which round, what
  std::string drawn;    // with a problem: the messages of that round, one a line, and those that wait
  PlanCost counted;
  Rank rank = 0;        // with a problem: on which rank, and in which of its rounds, from 1; 0: before the first
  int round = 0;
};

using PlanSource = std::function<Plan(const PlanArgs&)>;

PlanVerdict check_plan(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node = 1);
// The same with the ranks' plans from elsewhere: altered ones, or those of another root.
PlanVerdict check_plan(const Algorithm& algorithm, const PlanCase& at, const PlanSource& plans);

struct PlanTrace {
  std::vector<PlanMessage> messages;  // by wave and sender
  PlanCost counted;
};

// All messages of a plan, and of one that is stuck those before that. Follows the messages and holds no element.
//   cost    O(messages) memory, about 100 bytes each
PlanTrace trace_plan(const Algorithm& algorithm, const PlanCase& at);

}  // namespace pdsim
