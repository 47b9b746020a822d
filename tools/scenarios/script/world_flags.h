// The world and the faults that the flags of `pdsim run` name, by the rules of scenario files.
#pragma once

#include "scenarios/language/scenario.h"
#include "sim/world_spec.h"
#include "tools/scenarios/script/run_flags.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

// input_invalid, with what is wrong.
Result<scenarios::World> world_of(const RunFlags& flags);

// The same as sections of a scenario file, with what only the run has told.
struct WorldSections {
  std::string text;                   // `world`, and `faults` where there are some
  std::vector<std::string> left_out;  // faults that a record without the script's steps cannot have
};
struct RunWorld {
  int ranks = 1;
  std::string backend, profile;
  std::optional<Time> timeout;
  int devices = 0;  // GPUs of a node; 0: not counted
};
// Faults that end or stop a rank are left out: the record has what came of them.
WorldSections world_sections(const RunFlags& flags, const RunWorld& run);

}  // namespace pdsim::tools
