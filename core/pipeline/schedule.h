// A pipeline schedule: the rank and the order of the forwards and backwards of each micro-batch in each stage.
//
//   stages   0 .. stages - 1, in the order of the model; a rank has one or several
//   actions  F a forward; B a whole backward; I the part of a backward that computes the gradient of the stage's input, and W
//            the part for those of its weights, after which that micro-batch is done
//   text     one line a rank, comma-separated actions, each the stage, the letter and the micro-batch (1F0): the form of
//            torch.distributed.pipelining's compute-only CSV files. Cells may be empty
//   source   torch/distributed/pipelining/schedules.py; Qi et al., Zero Bubble Pipeline Parallelism (arXiv 2401.10241)
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

enum class PipelineActionKind : std::uint8_t { forward, backward, input_backward, weight_backward };

struct PipelineActionRow {
  PipelineActionKind kind;
  char letter;
  std::string_view name;
};
constexpr std::array<PipelineActionRow, 4> pipeline_actions{{
    {PipelineActionKind::forward, 'F', "forward"},
    {PipelineActionKind::backward, 'B', "backward"},
    {PipelineActionKind::input_backward, 'I', "backward for the input"},
    {PipelineActionKind::weight_backward, 'W', "backward for the weights"},
}};
constexpr const PipelineActionRow& row(PipelineActionKind kind) {
  return pipeline_actions[static_cast<std::size_t>(kind)];
}

struct PipelineAction {
  PipelineActionKind kind = PipelineActionKind::forward;
  int stage = 0;
  int microbatch = 0;
  auto operator<=>(const PipelineAction&) const = default;
};

// 1F0
std::string to_string(const PipelineAction& action);

constexpr std::int64_t most_pipeline_actions = 1'000'000;  // in one schedule

struct PipelineSchedule {
  std::string name;
  int stages = 0;
  int microbatches = 0;
  std::vector<std::vector<PipelineAction>> order;  // by rank

  int ranks() const { return static_cast<int>(order.size()); }
  bool operator==(const PipelineSchedule&) const = default;
};

// The rank of the first action of each stage, in rank order; no_rank for a stage without one.
std::vector<Rank> ranks_of_stages(const PipelineSchedule& schedule);

// One line a rank.
std::string to_csv(const PipelineSchedule& schedule);

// Stages and micro-batches are the highest numbers found, plus one. The result need not be a schedule that can run: see
// check_pipeline. Errors: invalid_argument, with the facts line and column (from 1), for a cell that is not an action and for a
// text without one. At most 4,096 ranks, and most_pipeline_actions.
Result<PipelineSchedule> pipeline_from_csv(std::string_view text, std::string name);

}  // namespace pdsim
