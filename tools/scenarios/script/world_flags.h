// The world and the faults named by the flags of `pdsim run`, by the rules of scenario files.
#pragma once

#include "scenarios/language/scenario.h"
#include "sim/world_spec.h"
#include "tools/console/console.h"
#include "tools/scenarios/script/run_flags.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

// Nothing where they are wrong; then every error has been printed, with its place in the file or in the option's value.
std::optional<scenarios::World> world_of(const RunFlags& flags, Console& console);

// The same as sections of a scenario file, with the facts that only the run provided.
struct WorldSections {
  std::string text;                   // `world`, and `faults` where there are some
  std::vector<std::string> left_out;  // faults that a record without the script's steps cannot express
};
struct RunWorld {
  int ranks = 1;
  std::string backend, profile;
  std::optional<Time> timeout;
  int devices = 0;  // GPUs of a node; 0: not counted
};
// Faults that end or stop a rank are left out: the record has their effects.
WorldSections world_sections(const RunFlags& flags, const RunWorld& run);

}  // namespace pdsim::tools
