// Where each forward and backward of a schedule stands, and what each action needs done before it.
#pragma once

#include "core/pipeline/schedule.h"

#include <array>
#include <vector>

namespace pdsim {

struct PipelinePlace {
  Rank rank = no_rank;  // no_rank: it is in no rank's list
  int at = -1;          // its place in the rank's list
  bool found() const { return rank != no_rank; }
};

// What an action waits for. At most two actions; of an action that the schedule lacks, the place is not found.
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

// Of the first of several equal actions. Memory goes with stages times micro-batches. The schedule must outlive it.
class PipelineIndex {
 public:
  explicit PipelineIndex(const PipelineSchedule& schedule);

  PipelinePlace place_of(const PipelineAction& action) const;
  // The backward that gives the gradient of the stage's input: B, or I.
  PipelineNeed gradient_of(int stage, int microbatch) const;
  // F of the stage before; the stage's own F, and the gradient of the stage after it; of W, its I.
  PipelineNeeds needs_of(const PipelineAction& action) const;

 private:
  std::size_t slot(const PipelineAction& action) const;
  const PipelineSchedule& schedule_;
  std::vector<PipelinePlace> places_;
};

// How far the ranks get when each does its list in order and messages arrive as soon as they are sent.
struct PipelineProgress {
  std::vector<PipelinePlace> order;  // all actions that were done, each after what it needs
  std::vector<int> reached;          // by rank: how many of its actions were done
};
PipelineProgress run_in_order(const PipelineSchedule& schedule, const PipelineIndex& index);

}  // namespace pdsim
