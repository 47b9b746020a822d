// PlanRoom: the memory and peers that a plan's steps may use on one rank, so that a wrong plan ends in an error and
// never outside its memory.
//
//   room     the elements that the call has in input and output, and the scratch that the algorithm's row asks for
//   refused  slices past an end, writes into the input, copies between slices of two lengths, peers outside the group
//   callers  every reader of plans checks a step before it uses it: the runner, the checker, device plans, closed forms
//   cost     a few comparisons a step
#pragma once

#include "core/base/result.h"
#include "core/collectives/algorithms.h"

#include <array>
#include <cstdint>
#include <string>

namespace pdsim {

struct PlanRoom {
  const Algorithm* algorithm = nullptr;    // whose room it is
  std::array<std::int64_t, 3> elements{};  // by BufferId; negative: the row asks for a negative number
  Rank rank = 0;
  int size = 1;
  bool names_peers = true;  // false: a message of the program, whose peer the process group has checked

  std::int64_t of(BufferId buffer) const { return elements[static_cast<std::size_t>(buffer)]; }
  std::int64_t scratch() const { return of(BufferId::scratch); }
  bool holds(const Slice& s) const {
    const std::int64_t room = of(s.buffer);
    return s.offset >= 0 && s.count >= 0 && s.count <= room && s.offset <= room - s.count;
  }
  bool allows(const Step& step) const {
    if (!holds(step.slice)) return false;
    if (step.kind != Step::Kind::send && step.slice.buffer == BufferId::input && step.slice.count > 0) return false;
    if (step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce)
      return step.from.count == step.slice.count && holds(step.from);
    return !names_peers || (step.peer >= 0 && step.peer < size && step.peer != rank);
  }
  // Why a step is not allowed: "uses elements 4..6 of its scratch, which has 6".
  std::string problem(const Step& step) const;
};

PlanRoom room_of(const Collective& call, const Algorithm& algorithm, const PlanArgs& args);

// Advances to the next round; false when the plan has ended.
//   errors  invalid_argument: the round has a step that `room` does not allow, or the plan threw an exception
inline Result<bool> next_round(Plan& plan, const PlanRoom& room);
// The same for a round that another reader took from the plan.
inline Status check_round(const Plan& plan, const PlanRoom& room);

// The errors that check_round() and next_round() return for such a step, and for the exception being handled.
Error refused_step(const PlanRoom& room, const Step& step);
Error thrown_by_plan(const PlanRoom& room);

inline Status check_round(const Plan& plan, const PlanRoom& room) {
  for (const Step& step : plan.steps())
    if (!room.allows(step)) return refused_step(room, step);
  return {};
}

inline Result<bool> next_round(Plan& plan, const PlanRoom& room) {
  bool more = false;
  try {
    more = plan.next();
  } catch (...) {
    return thrown_by_plan(room);
  }
  if (more) PDSIM_TRY(check_round(plan, room));
  return more;
}

}  // namespace pdsim
