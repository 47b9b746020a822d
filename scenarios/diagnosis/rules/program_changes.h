// Changes of the program that give every rank the same calls, for what finds that some have others. They are only proposed here;
// scenarios/run makes and runs them.
#pragma once

#include "scenarios/diagnosis/analysis/schedule_difference.h"

#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// Every rank makes the calls; no rank makes them; those that stand in two orders get one.
void add_cures(Diagnosis& diagnosis, const Report& report, const ScheduleDifference& difference);

// Without these operations, which are named by their marks and names.
Cure left_out(std::string what, const std::vector<std::pair<Mark, std::string>>& operations);

// The rank's first receive behind this send in front of it.
struct SendFirst {
  Rank rank = 0;
  Mark send;
};
Cure receives_first(std::string what, const SendFirst& circle);

}  // namespace pdsim::scenarios::diagnoses
