// Checks a schedule before anything runs, and counts the activations it keeps.
#pragma once

#include "core/pipeline/schedule.h"

#include <string>
#include <vector>

namespace pdsim {

enum class PipelineFault : std::uint8_t {
  missing,       // `action` is in no list
  doubled,       // `action` is there again, at `rank` and `at`
  elsewhere,     // `action` is on `rank`, but `rank_of_stage` has its stage
  both_forms,    // a backward is there whole and in parts
  cannot_start,  // every rank is done, or waits: `rank` for `needs`, at `at`
};

struct PipelineProblem {
  PipelineFault fault = PipelineFault::missing;
  PipelineAction action;
  Rank rank = no_rank;  // whose list; no_rank for `missing`
  int at = -1;
  Rank rank_of_stage = no_rank;
  PipelineAction needs;  // for cannot_start
  bool operator==(const PipelineProblem&) const = default;
};

// One sentence.
std::string to_string(const PipelineProblem& problem);

struct PipelineCheck {
  std::vector<PipelineProblem>
      problems;  // at most 20 of the first four kinds; cannot_start only when there are none of those
  // The most micro-batches at one time whose forward was done and whose backward (with its W) was not. Empty with problems.
  std::vector<int> kept_by_rank, kept_by_stage;
  bool ok() const { return problems.empty(); }
};

// Checks that every stage does one forward and one backward of each micro-batch on one rank, and that the lists can run in their
// order with unbounded message buffers. For bounded ones see lower_pipeline and find_stuck.
PipelineCheck check_pipeline(const PipelineSchedule& schedule);

}  // namespace pdsim
