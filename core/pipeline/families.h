// The published pipeline schedules, one row each, for any number of ranks and micro-batches.
//
//   gpipe             all forwards, then all backwards. Huang et al., 2019
//   1f1b              p - r - 1 forwards ahead on rank r, then one forward, one backward. PipeDream-Flush; Narayanan et al., 2021
//   interleaved_1f1b  several stages a rank (stage s is on rank s mod p), in rounds of p micro-batches: Megatron-LM's order,
//                     which is torch's ScheduleInterleaved1F1B too
//   zb_h1             1f1b's order, the backward in two parts; rank r delays at most r weight parts. Qi et al., 2023
//   zb_h2             2(p - r - 1) forwards ahead, at most 2r delayed weight parts: no bubble but the warm-up's, for up to
//                     twice the activations
#pragma once

#include "core/pipeline/schedule.h"

#include <array>
#include <optional>
#include <span>

namespace pdsim {

inline constexpr std::array<std::string_view, 5> pipeline_family_names{"gpipe", "1f1b", "interleaved_1f1b", "zb_h1",
                                                                       "zb_h2"};

struct PipelineShape {
  int ranks = 2;
  int microbatches = 4;
  int stages_per_rank = 1;
};

struct PipelineFamily {
  std::string_view name;
  std::string_view help;
  bool several_stages;  // stages_per_rank may be more than 1
  bool whole_rounds;    // micro-batches are a multiple of the ranks, where a rank has several stages
  std::vector<PipelineAction> (*order)(const PipelineShape& shape, Rank rank);
};

std::span<const PipelineFamily> pipeline_families();
const PipelineFamily* pipeline_family_named(std::string_view name);

// Errors: invalid_argument, with the shapes that would be valid.
Result<PipelineSchedule> make_pipeline(const PipelineFamily& family, const PipelineShape& shape);

}  // namespace pdsim
