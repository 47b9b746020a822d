// Pictures of a plan: the messages of every round, as text and as SVG.
//
//   rounds    a message is drawn in the first round in which it can be in flight, if all messages take equally long
//   elements  one byte each, so PlanCase::count is in bytes
#pragma once

#include "core/collectives/proof/plan_checker.h"

#include <string>
#include <vector>

namespace pdsim {

// The messages of one rank's round, or of its last earlier round that has any, and those in flight with them, one a
// line, at most 16. With `waiting`, lines that say which rank waits for which, instead.
std::string draw_round(const std::vector<PlanMessage>& messages, Rank rank, int round,
                       const std::vector<std::string>& waiting);

// Prints its cost, for this count and as a formula, then its rounds: up to eight ranks in columns, more as lists. Shows
// the first 400 messages, and how many are left out. Memory grows with the number of messages, whatever their size
// (trace_plan).
std::string draw_plan(const Algorithm& algorithm, const PlanCase& at);

// Prints only the rounds.
std::string draw_rounds(const Algorithm& algorithm, const PlanCase& at);

// Draws a line down for each rank and an arrow for each message, for the first 4,000 messages.
std::string draw_plan_svg(const Algorithm& algorithm, const PlanCase& at);

// Explains the letters of the formulas.
std::string_view formula_letters();

}  // namespace pdsim
