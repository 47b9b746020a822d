// Changes of the program that give every rank the same calls, for rules that find different ones. They are only proposed here;
// scenarios/run applies and runs them.
#pragma once

#include "scenarios/diagnosis/analysis/schedule_difference.h"

#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// Proposes that every rank makes the calls; that no rank makes them; that calls in two orders get one.
void add_cures(Diagnosis& diagnosis, const Report& report, const ScheduleDifference& difference);

// Leaves out these operations, which are identified by their marks and names.
Cure left_out(std::string what, const std::vector<std::pair<Mark, std::string>>& operations);

// Moves the rank's first receive that follows this send to just before the send.
struct SendFirst {
  Rank rank = 0;
  Mark send;
};
Cure receives_first(std::string what, const SendFirst& circle);

// Puts the operations at `wanted`, which are those at `places` in another order, into these places of the list that holds them all.
Cure in_this_order(std::string what, std::vector<Mark> places, std::vector<Mark> wanted);

}  // namespace pdsim::scenarios::diagnoses
