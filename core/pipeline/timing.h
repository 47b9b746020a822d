// The time of each action of a schedule, if an action starts as soon as its rank is free and its inputs have arrived.
//
//   messages  take `message` each from rank to rank, whatever else is under way; between stages of one rank they take none
//   source    the rules of Qi et al., Zero Bubble Pipeline Parallelism (arXiv 2401.10241), section 5, which give its table 5
#pragma once

#include "core/base/quantity.h"
#include "core/pipeline/schedule.h"

#include <vector>

namespace pdsim {

struct StageCosts {
  Time forward{};
  Time input_backward{};
  Time weight_backward{};
};

struct PipelineCosts {
  std::vector<StageCosts> stages;  // by stage; a single one applies to all
  Time message{};
  const StageCosts& of(int stage) const { return stages[stages.size() == 1 ? 0 : static_cast<std::size_t>(stage)]; }
  // A whole backward takes the time of both of its parts.
  Time of(const PipelineAction& action) const;
};

struct PipelineSpan {
  Time start{}, end{};
};

struct PipelineTiming {
  std::vector<std::vector<PipelineSpan>> spans;  // as the schedule's lists
  std::vector<Time> busy;                        // by rank
  Time cost{};                                   // the longest time from a rank's first start to its last end
  Time end{};                                    // of the last action, from the first start
  // The average share of `cost` in which a rank computes nothing: with equal stages (cost - m (F + I + W)) / cost.
  double bubble_rate() const;
};

// Errors: invalid_argument for a schedule that cannot run to its end (check_pipeline says why), and for costs of a different
// number of stages.
Result<PipelineTiming> time_pipeline(const PipelineSchedule& schedule, const PipelineCosts& costs);

}  // namespace pdsim
