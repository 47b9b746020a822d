// A step of the optimizer that some ranks make and others leave out.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace pdsim::scenarios::diagnoses {

struct SkippedStep {
  std::vector<Rank> makers, skippers;
  const Note* step = nullptr;  // of the first of the makers
};

// The n-th step of the ranks, from 0, where it is not the same step on all of them; nothing where they agree, or inside of join,
// whose ranks may have different numbers of steps.
std::optional<SkippedStep> skipped_step(const Report& report, std::size_t n);

// Takes the condition from the operation at this place.
void step_on_all_ranks(std::vector<Operation>& program, const Mark& place);

}  // namespace pdsim::scenarios::diagnoses
