// Why replicas went apart in a step although nothing went wrong before it: the gradients or the optimizer's state with which the ranks
// began it.
#pragma once

#include "scenarios/diagnosis/rules/training/replicas/replica_states.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// A step that some ranks began with something of their own.
struct InputApart {
  const Note* step = nullptr;  // of the first of them
  std::vector<Rank> ranks;     // that are not as most are; empty: no value is most ranks'
};

// The gradients were the same on all ranks when the backward that averaged them returned, and not when the step began.
std::optional<InputApart> gradients_apart(const ReplicasApart& apart);
void tell_gradients(Diagnosis& d, const Report& report, const ReplicasApart& apart, const InputApart& found);

// The gradients were the same when the step began, and the optimizer's state was not.
std::optional<InputApart> state_apart(const ReplicasApart& apart);
void tell_state(Diagnosis& d, const Report& report, const ReplicasApart& apart, const InputApart& found);

// In a scenario: only some ranks clip their gradients in the step, or they clip at other lines.
struct ClippedApart {
  const Call* clip = nullptr;  // of the first of `clippers`
  std::vector<Rank> clippers;  // who clip, where others do not, or at another line than most
  const Call* usual = nullptr;  // where all clip: that of the others
  std::vector<Rank> ranks;  // that are not as most are; empty: they are half
};
std::optional<ClippedApart> clipped_apart(const Report& report, const ReplicasApart& apart);
void tell_clipped(Diagnosis& d, const Report& report, const ReplicasApart& apart, const ClippedApart& found);

}  // namespace pdsim::scenarios::diagnoses
