// Planted mistakes: a plan's rounds as plain lists, the ways to spoil them, and what the spoiled lists compute.
#pragma once

#include "core/collectives/proof/plan_checker.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::mutants {

using Steps = std::vector<Step>;
using RankRounds = std::vector<Steps>;
using Schedule = std::vector<RankRounds>;  // by rank

inline bool is_message(const Step& s) { return s.kind != Step::Kind::copy && s.kind != Step::Kind::reduce; }

Schedule schedule_of(const Algorithm& algorithm, const PlanCase& at);
PlanSource plans_of(const Schedule& schedule);

struct Mutant {
  std::string_view mistake;
  std::string where;
  Schedule schedule;
};

// The names of all mistakes, in the order of the report.
std::vector<std::string_view> mistakes();

// Every mistake at every place where it changes anything.
std::vector<Mutant> mutants_of(const Algorithm& algorithm, const PlanCase& at);

// Runs the lists with numbers, apart from everything that the checker is made of, and compares what comes out with the
// sequential reference: empty if it is right, else what is wrong.
std::string execute(const Algorithm& algorithm, const PlanCase& at, const Schedule& schedule);

}  // namespace pdsim::mutants
