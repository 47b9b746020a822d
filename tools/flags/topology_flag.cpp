#include "tools/flags/topology_flag.h"

#include "core/base/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace pdsim::tools {
namespace {

using Kind = sim::Topology::Kind;

struct Row {
  std::string_view name;
  Kind kind;
  std::string_view options;
  std::string_view required;
};
constexpr std::array<Row, 3> topology_rows{{
    {"fat_tree", Kind::fat_tree, "leaf, oversubscription, hop", "leaf"},
    {"rail", Kind::rail, "oversubscription, hop", ""},
    {"torus", Kind::torus, "x, y, z, hop", "x"},
}};

Error wrong(std::string why) { return {Code::invalid_argument, std::move(why), {}}; }

bool read_side(const std::string& value, int& side) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), side);
  return error == std::errc{} && end == value.data() + value.size() && side >= 1;
}

Status read_option(const Row& row, const std::string& key, const std::string& value, sim::Topology& topology) {
  const bool known =
      !key.empty() && fmt::format(", {},", row.options).find(fmt::format(" {},", key)) != std::string::npos;
  if (!known) return wrong(fmt::format("{} has no `{}`; it has {}", row.name, key, row.options));
  if (key == "hop") {
    const Result<Time> hop = parse_time(value);
    if (!hop.ok()) return wrong(fmt::format("hop: {}; write it with its unit, such as 1us", hop.error().message));
    topology.hop = *hop;
    return {};
  }
  if (key == "oversubscription") {
    std::istringstream number(value);
    if (number >> topology.oversubscription && number.eof() && topology.oversubscription >= 1.0) return {};
    return wrong(fmt::format("oversubscription={} must be a number of 1 or more", value));
  }
  int& side = key == "leaf" ? topology.leaf : topology.sides[static_cast<std::size_t>(key[0] - 'x')];
  if (read_side(value, side)) return {};
  return wrong(fmt::format("{}={} must be a whole number of 1 or more", key, value));
}

}  // namespace

Result<sim::Topology> parse_topology(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const Row* row = nullptr;
  for (const Row& r : topology_rows)
    if (r.name == name) row = &r;
  if (row == nullptr) return wrong(fmt::format("unknown topology `{}`; expected fat_tree, rail or torus", name));
  sim::Topology topology;
  topology.kind = row->kind;
  bool complete = row->required.empty();
  std::istringstream options(name.size() < text.size() ? text.substr(name.size() + 1) : "");
  for (std::string option; std::getline(options, option, ',');) {
    const std::size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    PDSIM_TRY(read_option(*row, key, equals == std::string::npos ? "" : option.substr(equals + 1), topology));
    complete = complete || key == row->required;
  }
  if (!complete) return wrong(fmt::format("{0} needs `{1}`, as in {0}:{1}=4", row->name, row->required));
  return topology;
}

std::string topology_problem(const sim::WorldSpec& spec) {
  if (spec.topology.kind == Kind::rail && !spec.two_level)
    return "rails connect the ranks with the same place in all nodes; give --nodes";
  const auto [x, y, z] = spec.topology.sides;
  if (spec.topology.kind != Kind::torus || std::int64_t{x} * y * z == spec.ends()) return "";
  return fmt::format("a torus of {} x {} x {} in a world of {} {}: x * y * z must be {}", x, y, z, spec.ends(),
                     spec.two_level ? "nodes" : "ranks", spec.ends());
}

}  // namespace pdsim::tools
