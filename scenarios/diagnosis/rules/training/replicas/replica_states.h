// Whether the replicas of a wrapped model are the same, from the states that the records hold (notes::ReplicaState).
//
//   compared  only within the ranks that wrapped the model together, and only those that have a state of the same moment
//   where     at a forward whose backward is synchronised, and at the end of the program. A difference that the program takes away
//             before it uses the replicas again is its own affair: local steps that it averages, shards of an optimizer.
//   or        after each step, where a record has no other states: those of scenarios
//   silent    at the end of a program that has made its replicas equal before, and whose ranks all stepped on local gradients since
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// The notes of one rank since its replica was last equal to the others'.
struct ReplicaWindow {
  Rank rank = 0;
  const Note* from = nullptr;        // the state of then; null: none is on record
  std::vector<const Note*> steps;    // of optimizers
  std::vector<const Note*> states;   // after each of these
  std::vector<const Note*> skipped;  // steps that a scaler left out
  const Note* bypass = nullptr;      // a forward around the wrapper
  const Note* to = nullptr;          // the state that differs

  // Whether the parameters changed after the last step, or without one.
  bool changed_between() const;
};

struct ReplicasApart {
  std::vector<std::string> parameters;  // that differ; empty: the record does not say
  std::vector<Rank> ranks;              // that are not as most are; empty: no value is most ranks'
  std::vector<ReplicaWindow> windows;   // of the ranks that are compared, by rank
  std::optional<std::size_t> nth;       // the first step of the windows after which they differ; none: no step shows it
  bool at_steps = false;                // the record has states after steps alone, and `nth` counts from the beginning
  bool at_end = false;                  // no forward has used them
  bool hooked = false;                  // the program averages gradients by a hook of its own

  std::vector<Rank> members() const;
  // The step after which they differ first, of the lowest rank that made it; null: no step shows it.
  const Note* step() const;
  Rank rank_of_step() const;
};

// The first such difference of the run.
std::optional<ReplicasApart> replicas_apart(const Report& report);
std::optional<ReplicasApart> replicas_apart(Report&&) = delete;  // it points into the report

// Whether records hold more states than those after steps: they are of a script, and show whether a difference was used.
bool has_used_states(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
