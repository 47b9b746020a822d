#include "core/pipeline/check.h"

#include "core/pipeline/index.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {
namespace {

using Kind = PipelineActionKind;

constexpr std::size_t problems_told = 20;

class ScheduleCheck {
 public:
  explicit ScheduleCheck(const PipelineSchedule& schedule)
      : schedule_(schedule), index_(schedule), ranks_(ranks_of_stages(schedule)) {}

  PipelineCheck run() {
    find_missing();
    find_doubled();
    if (check_.problems.empty()) find_stuck_ranks();
    if (check_.problems.empty()) count_kept();
    return std::move(check_);
  }

 private:
  void add(const PipelineProblem& problem) {
    if (check_.problems.size() < problems_told) check_.problems.push_back(problem);
  }
  bool has(Kind kind, int stage, int microbatch) const { return index_.place_of({kind, stage, microbatch}).found(); }

  void find_missing() {
    for (int s = 0; s < schedule_.stages; ++s)
      for (int j = 0; j < schedule_.microbatches; ++j) {
        const Rank rank = ranks_[static_cast<std::size_t>(s)];
        const bool whole = has(Kind::backward, s, j), input = has(Kind::input_backward, s, j),
                   weight = has(Kind::weight_backward, s, j);
        if (!has(Kind::forward, s, j)) add({PipelineFault::missing, {Kind::forward, s, j}, no_rank, -1, rank, {}});
        if (whole && (input || weight)) add({PipelineFault::both_forms, {Kind::backward, s, j}, rank, -1, rank, {}});
        if (!whole && !input && !weight)
          add({PipelineFault::missing, {Kind::backward, s, j}, no_rank, -1, rank, {}});
        else if (!whole && !input)
          add({PipelineFault::missing, {Kind::input_backward, s, j}, no_rank, -1, rank, {}});
        else if (!whole && !weight)
          add({PipelineFault::missing, {Kind::weight_backward, s, j}, no_rank, -1, rank, {}});
      }
  }

  void find_doubled() {
    for (Rank r = 0; r < schedule_.ranks(); ++r) {
      const auto& actions = schedule_.order[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const PipelinePlace first = index_.place_of(actions[i]);
        const Rank rank = ranks_[static_cast<std::size_t>(actions[i].stage)];
        if (first.rank != r || first.at != static_cast<int>(i))
          add({PipelineFault::doubled, actions[i], r, static_cast<int>(i), first.rank, {}});
        else if (rank != r)
          add({PipelineFault::elsewhere, actions[i], r, static_cast<int>(i), rank, {}});
      }
    }
  }

  void find_stuck_ranks() {
    const PipelineProgress progress = run_in_order(schedule_, index_);
    for (Rank r = 0; r < schedule_.ranks(); ++r) {
      const auto& actions = schedule_.order[static_cast<std::size_t>(r)];
      const int at = progress.reached[static_cast<std::size_t>(r)];
      if (at == static_cast<int>(actions.size())) continue;
      const PipelineAction& action = actions[static_cast<std::size_t>(at)];
      for (const PipelineNeed& need : index_.needs_of(action))
        if (progress.reached[static_cast<std::size_t>(need.place.rank)] <= need.place.at) {
          add({PipelineFault::cannot_start, action, r, at, need.place.rank, need.action});
          break;
        }
    }
  }

  void count_kept() {
    check_.kept_by_stage.assign(static_cast<std::size_t>(schedule_.stages), 0);
    std::vector<int> of_stage(static_cast<std::size_t>(schedule_.stages), 0);
    for (const auto& actions : schedule_.order) {
      int kept = 0, most = 0;
      for (const PipelineAction& action : actions) {
        const auto s = static_cast<std::size_t>(action.stage);
        const int change = action.kind == Kind::forward ? 1 : action.kind == Kind::input_backward ? 0 : -1;
        most = std::max(most, kept += change);
        check_.kept_by_stage[s] = std::max(check_.kept_by_stage[s], of_stage[s] += change);
      }
      check_.kept_by_rank.push_back(most);
    }
  }

  const PipelineSchedule& schedule_;
  const PipelineIndex index_;
  const std::vector<Rank> ranks_;
  PipelineCheck check_;
};

std::string spelled(const PipelineAction& action) {
  return fmt::format("{} ({} of micro-batch {} in stage {})", to_string(action), row(action.kind).name,
                     action.microbatch, action.stage);
}

}  // namespace

std::string to_string(const PipelineProblem& problem) {
  switch (problem.fault) {
    case PipelineFault::missing: {
      const std::string where =
          problem.rank_of_stage == no_rank ? "" : fmt::format("; its stage is on rank {}", problem.rank_of_stage);
      return fmt::format("{} is missing{}", spelled(problem.action), where);
    }
    case PipelineFault::doubled:
      return fmt::format("action {} of rank {}: {} is there twice, first on rank {}", problem.at + 1, problem.rank,
                         spelled(problem.action), problem.rank_of_stage);
    case PipelineFault::elsewhere:
      return fmt::format("action {} of rank {}: {}, but its stage is on rank {}", problem.at + 1, problem.rank,
                         spelled(problem.action), problem.rank_of_stage);
    case PipelineFault::both_forms:
      return fmt::format("rank {} has the backward of micro-batch {} in stage {} both whole (B) and in parts (I, W)",
                         problem.rank, problem.action.microbatch, problem.action.stage);
    case PipelineFault::cannot_start:
      if (problem.rank == problem.rank_of_stage)
        return fmt::format("rank {} cannot start its action {}, {}, which needs {}; that comes later on the same rank",
                           problem.rank, problem.at + 1, spelled(problem.action), to_string(problem.needs));
      return fmt::format("rank {} cannot start its action {}, {}: it waits for {} of rank {}", problem.rank,
                         problem.at + 1, spelled(problem.action), to_string(problem.needs), problem.rank_of_stage);
  }
  return {};
}

PipelineCheck check_pipeline(const PipelineSchedule& schedule) { return ScheduleCheck(schedule).run(); }

}  // namespace pdsim
