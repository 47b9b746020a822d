// What the rules share: words for ranks and lists, places in the file, and the evidence they cite.
#pragma once

#include "scenarios/engine/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// "rank 1 waits", "ranks 1..3 wait"
std::string who(const std::vector<Rank>& ranks, std::string_view one, std::string_view many);
std::string capitalised(std::string text);                     // for the beginning of a sentence
std::string list_text(const std::vector<std::string>& items);  // a, b
void add_once(std::vector<std::string>& items, const std::vector<std::string>& more);
void add_once(std::vector<Rank>& ranks, Rank rank);
bool contains(const std::vector<Rank>& ranks, Rank rank);
// All ranks of the run that are not in `ranks`.
std::vector<Rank> others(const Report& report, const std::vector<Rank>& ranks);

// "all_reduce #3"; without the number where the call has none
std::string name_and_number(const Call& call);

Evidence cite(Rank rank, const Call& call, std::string what);
Evidence cite(Rank rank, const Note& note, std::string what);

// A mark in the file; the width is taken from the scenario's own mark at that place when there is one. Line 0: no span.
void add_span(Diagnosis& diagnosis, const Scenario* scenario, int line, int column, std::string label, bool primary);
void add_span(Diagnosis& diagnosis, const Mark& mark, std::string label, bool primary);

}  // namespace pdsim::scenarios::diagnoses
