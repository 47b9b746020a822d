// The worlds that --on takes: the simulated one, and every real one of the list in backends/availability.h.
#pragma once

#include "scenarios/program/session.h"
#include "scenarios/worlds/world.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

struct WorldRow {
  std::string_view name;
  std::string_view about;
  WorldKind kind;
  std::unique_ptr<WorldRunner> (*make)(std::string_view name);
};

std::span<const WorldRow> worlds();
// "sim, gloo, mpi or nccl"; without the simulated one "gloo, mpi or nccl".
std::string names_of_worlds(bool with_simulated = true);

// Null for an unknown name, with the valid names in `problem`.
const WorldRow* world_named(std::string_view name, std::string& problem);

}  // namespace pdsim::scenarios
