// Pictures of a plan: who sends what to whom, round by round, as text and as SVG.
//
//   rounds    messages stand in the first round that they can be in flight in, if all take as long as another
//   elements  of one byte, so that PlanCase::count is in bytes
#pragma once

#include "core/collectives/proof/plan_checker.h"

#include <string>
#include <vector>

namespace pdsim {

// The messages of one rank's round, or of the last one before it that has any, and those in flight with them, one a line,
// at most 16. With `waiting`, lines that tell who waits for whom, those instead.
std::string draw_round(const std::vector<PlanMessage>& messages, Rank rank, int round,
                       const std::vector<std::string>& waiting);

// What it costs, by count and by formula, then its rounds: up to eight ranks in columns, more as lists. The first 400
// messages, and how many are left out. Memory goes with the messages, whatever their size (trace_plan).
std::string draw_plan(const Algorithm& algorithm, const PlanCase& at);

// The rounds alone.
std::string draw_rounds(const Algorithm& algorithm, const PlanCase& at);

// The rounds as a picture: a line down for each rank, an arrow for each message, the first 4,000.
std::string draw_plan_svg(const Algorithm& algorithm, const PlanCase& at);

// What the letters of the formulas stand for.
std::string_view formula_letters();

}  // namespace pdsim
