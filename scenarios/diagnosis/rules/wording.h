// Shared by the rules: wording for ranks and lists, and the evidence they cite.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/diagnosis/rules/scenario_places.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// "ranks 0..7, 16"; those that do not fit on a line are counted: "ranks 0, 8, 16 and 61 more".
std::string short_ranks(const std::vector<Rank>& ranks);
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

// What became of calls that differ, where the run is not known to have hung or failed: silently wrong, or not over when it was recorded.
std::string silence_text(const Report& report, const Call& call, const Call& other);
Evidence evidence_of(Rank rank, const Call& call, std::string what);
Evidence evidence_of(Rank rank, const Note& note, std::string what);

}  // namespace pdsim::scenarios::diagnoses
