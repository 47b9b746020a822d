// Changes of a loaded scenario that leave its mistake as it is: the diagnosis must not notice them.
//
//   permits  null where the change would change the mistake itself, and why
//   culprits who must be named afterwards, from those who were named before
#pragma once

#include "scenarios/language/scenario.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct Changed {
  Scenario scenario;
  std::vector<Rank> culprits;
};

struct Change {
  std::string_view name;
  // Nothing where the scenario does not permit it.
  std::optional<Changed> (*make)(const Scenario& scenario, const std::vector<Rank>& culprits);
};

std::span<const Change> harmless_changes();

}  // namespace pdsim::scenarios
