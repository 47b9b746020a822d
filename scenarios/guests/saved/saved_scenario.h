// A record of a script's ranks as a scenario file that shows the same without the script.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/guests/saved/rank_operations.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::guests {

struct SavedWorld {
  std::string world;   // the lines of the section `world`, and of `faults` where there is one
  std::string script;  // its name
  std::uint64_t seed = 0;
};

struct SavedScenario {
  std::string text;
  std::vector<std::string> left_out;  // that the language cannot say; also comments of the text
};

// `expect`: what stands under that key, on one line. `source` is asked for the lines that comments show.
SavedScenario saved_scenario(const RunRecord& run, const SavedWorld& world, std::string_view name,
                             std::string_view expect, const SourceLine& source);

// Whether a file of this name can be a scenario; empty: it can, else what is wrong.
std::string saved_name_problem(const std::string& path);

}  // namespace pdsim::scenarios::guests
