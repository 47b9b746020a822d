// THE list of worlds that --on takes.
//
// Adding one: its runner, and a row in worlds.cpp.
#pragma once

#include "scenarios/engine/session.h"
#include "scenarios/engine/world.h"

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

// Null, and what would be right in `problem`, for a name that is no world.
const WorldRow* world_named(std::string_view name, std::string& problem);

}  // namespace pdsim::scenarios
