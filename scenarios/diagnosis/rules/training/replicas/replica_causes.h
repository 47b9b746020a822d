// Why replicas went apart, as far as the record shows it.
#pragma once

#include "scenarios/diagnosis/rules/training/replicas/replica_states.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

enum class ReplicaCause : std::uint8_t {
  none,       // the record shows it is none of these
  skipped,    // some ranks left a step of the optimizer out
  setting,    // the optimizers go by other settings
  local,      // a backward that DDP did not reduce has added to the gradients
  gradients,  // averaged gradients changed between backward and step
  state,      // the optimizers' momentum or moments differ, though they stepped on the same gradients
  changed,    // parameters changed between two steps
};
ReplicaCause cause_of(const Report& report, const ReplicasApart& apart);

// Writes cause, why, fix and ranks where the record shows the cause. False: it shows none, and `d` is as it was.
bool tell_cause(Diagnosis& d, const Report& report, const ReplicasApart& apart);

// Names the first of many parameters.
std::string parameters_text(const std::vector<std::string>& parameters);

// Returns the ranks whose value is not the majority's; empty: no value has a majority.
template <class Value>
std::vector<Rank> minority_of(const std::map<Value, std::vector<Rank>>& camps) {
  const auto largest = std::max_element(camps.begin(), camps.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<Rank> ranks;
  for (const auto& camp : camps) {
    if (camp.first == largest->first) continue;
    if (camp.second.size() == largest->second.size()) return {};
    ranks.insert(ranks.end(), camp.second.begin(), camp.second.end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace pdsim::scenarios::diagnoses
