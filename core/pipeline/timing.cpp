#include "core/pipeline/timing.h"

#include "core/pipeline/index.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {

Time PipelineCosts::of(const PipelineAction& action) const {
  const StageCosts& costs = of(action.stage);
  switch (action.kind) {
    case PipelineActionKind::forward:
      return costs.forward;
    case PipelineActionKind::backward:
      return costs.input_backward + costs.weight_backward;
    case PipelineActionKind::input_backward:
      return costs.input_backward;
    case PipelineActionKind::weight_backward:
      return costs.weight_backward;
  }
  return {};
}

double PipelineTiming::bubble_rate() const {
  if (cost.ps == 0) return 0;
  double worked = 0;
  for (const Time time : busy) worked += time.seconds();
  return 1 - worked / (cost.seconds() * static_cast<double>(busy.size()));
}

Result<PipelineTiming> time_pipeline(const PipelineSchedule& schedule, const PipelineCosts& costs) {
  if (costs.stages.size() != 1 && costs.stages.size() != static_cast<std::size_t>(schedule.stages))
    return Error{Code::invalid_argument,
                 fmt::format("costs of {} stages, and the schedule has {}", costs.stages.size(), schedule.stages),
                 {}};
  const PipelineIndex index(schedule);
  const PipelineProgress progress = run_in_order(schedule, index);
  PipelineTiming timing;
  for (std::size_t r = 0; r < schedule.order.size(); ++r) {
    if (progress.reached[r] < static_cast<int>(schedule.order[r].size()))
      return Error{Code::invalid_argument,
                   fmt::format("rank {} cannot get past {}", r,
                               to_string(schedule.order[r][static_cast<std::size_t>(progress.reached[r])])),
                   {}};
    timing.spans.emplace_back(schedule.order[r].size());
  }
  timing.busy.resize(schedule.order.size());
  std::vector<Time> free(schedule.order.size());
  for (const PipelinePlace& place : progress.order) {
    const auto r = static_cast<std::size_t>(place.rank), i = static_cast<std::size_t>(place.at);
    const PipelineAction& action = schedule.order[r][i];
    Time start = free[r];
    for (const PipelineNeed& need : index.needs_of(action)) {
      const Time done =
          timing.spans[static_cast<std::size_t>(need.place.rank)][static_cast<std::size_t>(need.place.at)].end;
      start = std::max(start, need.place.rank == place.rank ? done : done + costs.message);
    }
    const Time took = costs.of(action);
    timing.spans[r][i] = {start, free[r] = start + took};
    timing.busy[r] += took;
  }
  for (const auto& spans : timing.spans) {
    if (spans.empty()) continue;
    timing.cost = std::max(timing.cost, spans.back().end - spans.front().start);
    timing.end = std::max(timing.end, spans.back().end);
  }
  return timing;
}

}  // namespace pdsim
