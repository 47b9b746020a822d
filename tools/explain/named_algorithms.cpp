#include "tools/explain/named_algorithms.h"

#include <fmt/format.h>

namespace pdsim::tools {

std::string qualified(const Algorithm& row) { return fmt::format("{}/{}", name_of(row.kind), row.name); }

std::vector<const Algorithm*> algorithms_named(std::string_view id) {
  std::vector<const Algorithm*> found;
  for (const Algorithm& row : algorithms())
    if (!pdsim::row(row.kind).point_to_point && (id == row.name || id == qualified(row))) found.push_back(&row);
  return found;
}

}  // namespace pdsim::tools
