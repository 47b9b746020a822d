#include "scenarios/worlds/worlds.h"

#include "backends/availability.h"
#include "core/base/nearest.h"
#include "scenarios/worlds/real_world.h"
#include "scenarios/worlds/sim_world.h"

#include <fmt/format.h>

#include <vector>

namespace pdsim::scenarios {
namespace {

std::unique_ptr<WorldRunner> simulated(std::string_view) { return sim_world(); }

std::vector<WorldRow> make_rows() {
  std::vector<WorldRow> rows{
      {"sim", "the simulated world: virtual time, every decision replayable", WorldKind::simulated, simulated}};
  for (const RealWorldRow& row : real_worlds()) rows.push_back({row.name, row.about, WorldKind::real, real_world});
  return rows;
}

}  // namespace

std::span<const WorldRow> worlds() {
  static const std::vector<WorldRow> rows = make_rows();
  return rows;
}

std::string names_of_worlds(bool with_simulated) {
  std::string text;
  const std::span<const WorldRow> rows = worlds();
  for (std::size_t i = with_simulated ? 0 : 1; i < rows.size(); ++i)
    text += fmt::format("{}{}", text.empty() ? "" : i + 1 == rows.size() ? " or " : ", ", rows[i].name);
  return text;
}

const WorldRow* world_named(std::string_view name, std::string& problem) {
  std::vector<std::string_view> names;
  for (const WorldRow& row : worlds()) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  const auto close = nearest(name, std::span<const std::string_view>(names));
  problem = close ? fmt::format("unknown world `{}`; did you mean `{}`?", name, *close)
                  : fmt::format("unknown world `{}`; expected {}", name, fmt::join(names, ", "));
  return nullptr;
}

}  // namespace pdsim::scenarios
