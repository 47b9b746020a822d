// The place of each forward and backward in a schedule, and the actions that each action needs done before it.
#pragma once

#include "core/pipeline/schedule.h"

#include <array>
#include <vector>

namespace pdsim {

struct PipelinePlace {
  Rank rank = no_rank;  // no_rank: in no rank's list
  int at = -1;          // its place in the rank's list
  bool found() const { return rank != no_rank; }
};

// An action's prerequisites: at most two actions; where the schedule lacks one, its place is not found.
struct PipelineNeed {
  PipelineAction action;
  PipelinePlace place;
};
struct PipelineNeeds {
  std::array<PipelineNeed, 2> list;
  int count = 0;
  const PipelineNeed* begin() const { return list.data(); }
  const PipelineNeed* end() const { return list.data() + count; }
};

// Indexes the first of several equal actions. Memory grows with stages times micro-batches. The schedule must outlive
// it.
class PipelineIndex {
 public:
  explicit PipelineIndex(const PipelineSchedule& schedule);

  PipelinePlace place_of(const PipelineAction& action) const;
  // The backward that computes the gradient of the stage's input: B, or I.
  PipelineNeed gradient_of(int stage, int microbatch) const;
  // For F, F of the stage before; for a backward, the stage's own F and the gradient of the stage after it; for W, its
  // I.
  PipelineNeeds needs_of(const PipelineAction& action) const;

 private:
  std::size_t slot(const PipelineAction& action) const;
  const PipelineSchedule& schedule_;
  std::vector<PipelinePlace> places_;
};

// How far the ranks get when each runs its list in order and messages arrive as soon as they are sent.
struct PipelineProgress {
  std::vector<PipelinePlace> order;  // all actions that were done, each after its prerequisites
  std::vector<int> reached;          // by rank: the number of its actions that were done
};
PipelineProgress run_in_order(const PipelineSchedule& schedule, const PipelineIndex& index);

}  // namespace pdsim
