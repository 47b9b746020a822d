#include "scenarios/engine/worlds.h"

#include "core/base/nearest.h"
#include "scenarios/engine/real_world.h"
#include "scenarios/engine/sim_world.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::unique_ptr<WorldRunner> simulated(std::string_view) { return sim_world(); }

constexpr std::array rows{
    WorldRow{"sim", "the simulated world: virtual time, every decision replayable", WorldKind::simulated, simulated},
    WorldRow{"gloo", "one process per rank over real Gloo", WorldKind::real, real_world},
    WorldRow{"mpi", "one process per rank over real MPI", WorldKind::real, real_world},
    WorldRow{"nccl", "one process per rank and device over real NCCL", WorldKind::real, real_world},
};

}  // namespace

std::span<const WorldRow> worlds() { return rows; }

const WorldRow* world_named(std::string_view name, std::string& problem) {
  std::vector<std::string_view> names;
  for (const WorldRow& row : rows) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  const auto close = nearest(name, std::span<const std::string_view>(names));
  problem = close ? fmt::format("there is no world `{}`; did you mean `{}`?", name, *close)
                  : fmt::format("there is no world `{}`; there are {}", name, fmt::join(names, ", "));
  return nullptr;
}

}  // namespace pdsim::scenarios
