#include "core/pipeline/index.h"

namespace pdsim {

PipelineIndex::PipelineIndex(const PipelineSchedule& schedule)
    : schedule_(schedule),
      places_(pipeline_actions.size() * static_cast<std::size_t>(schedule.stages) *
              static_cast<std::size_t>(schedule.microbatches)) {
  for (Rank r = 0; r < schedule.ranks(); ++r) {
    const auto& actions = schedule.order[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < actions.size(); ++i) {
      PipelinePlace& place = places_[slot(actions[i])];
      if (!place.found()) place = {r, static_cast<int>(i)};
    }
  }
}

std::size_t PipelineIndex::slot(const PipelineAction& action) const {
  const auto kind = static_cast<std::size_t>(action.kind), stages = static_cast<std::size_t>(schedule_.stages);
  return (kind * stages + static_cast<std::size_t>(action.stage)) * static_cast<std::size_t>(schedule_.microbatches) +
         static_cast<std::size_t>(action.microbatch);
}

PipelinePlace PipelineIndex::place_of(const PipelineAction& action) const { return places_[slot(action)]; }

PipelineNeed PipelineIndex::gradient_of(int stage, int microbatch) const {
  const PipelineAction whole{PipelineActionKind::backward, stage, microbatch};
  const PipelineAction part{PipelineActionKind::input_backward, stage, microbatch};
  if (const PipelinePlace place = place_of(part); place.found()) return {part, place};
  return {whole, place_of(whole)};
}

PipelineNeeds PipelineIndex::needs_of(const PipelineAction& action) const {
  PipelineNeeds needs;
  const auto add = [&](const PipelineNeed& need) { needs.list[static_cast<std::size_t>(needs.count++)] = need; };
  const auto named = [&](PipelineActionKind kind, int stage) {
    const PipelineAction other{kind, stage, action.microbatch};
    return PipelineNeed{other, place_of(other)};
  };
  switch (action.kind) {
    case PipelineActionKind::forward:
      if (action.stage > 0) add(named(PipelineActionKind::forward, action.stage - 1));
      break;
    case PipelineActionKind::backward:
    case PipelineActionKind::input_backward:
      add(named(PipelineActionKind::forward, action.stage));
      if (action.stage + 1 < schedule_.stages) add(gradient_of(action.stage + 1, action.microbatch));
      break;
    case PipelineActionKind::weight_backward:
      add(named(PipelineActionKind::input_backward, action.stage));
      break;
  }
  return needs;
}

PipelineProgress run_in_order(const PipelineSchedule& schedule, const PipelineIndex& index) {
  PipelineProgress progress;
  progress.reached.assign(schedule.order.size(), 0);
  const auto is_done = [&](const PipelineNeed& need) {
    return need.place.found() && progress.reached[static_cast<std::size_t>(need.place.rank)] > need.place.at;
  };
  const auto can_start = [&](const PipelineAction& action) {
    for (const PipelineNeed& need : index.needs_of(action))
      if (!is_done(need)) return false;
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < schedule.order.size(); ++r) {
      int& at = progress.reached[r];
      while (at < static_cast<int>(schedule.order[r].size()) &&
             can_start(schedule.order[r][static_cast<std::size_t>(at)])) {
        progress.order.push_back({static_cast<Rank>(r), at++});
        moved = true;
      }
    }
  }
  return progress;
}

}  // namespace pdsim
