#include "tools/console/capability_tables.h"

#include "core/collectives/reduce.h"
#include "core/semantics/capabilities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using Names = std::vector<std::string_view>;

// Lists the dtypes that have the operation: those of the library's own, and those of pdsim's kernels.
std::string who_combines(const Capabilities& world, ReduceOp op) {
  Names library, ours;
  for (const DTypeRow& row : dtypes)
    if (supports(op, row.dtype)) (world.combines(op, row.dtype) ? library : ours).push_back(row.name);
  if (library.empty()) return "pdsim";
  if (ours.empty()) return "library";
  return fmt::format("library, pdsim for {}", fmt::join(ours, " "));
}

std::string dtypes_of(ReduceOp op) {
  Names names;
  for (const DTypeRow& row : dtypes)
    if (supports(op, row.dtype)) names.push_back(row.name);
  return names.size() == dtypes.size() ? "every dtype" : fmt::format("{}", fmt::join(names, " "));
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> header(std::string_view first) {
  std::vector<std::string> cells{std::string(first), "sim"};
  for (const Capabilities& world : capabilities()) cells.emplace_back(world.world);
  return cells;
}

std::string aligned(const Rows& rows, std::size_t first_width) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  widths.front() = first_width;
  for (const auto& cells : rows)
    for (std::size_t i = 1; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string text;
  for (const auto& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string capability_tables() {
  constexpr std::size_t first_width = 38;
  Rows kinds{header("collective")};
  for (const CollectiveRow& row : collective_table) {
    std::vector<std::string>& cells = kinds.emplace_back(std::vector<std::string>{std::string(row.name), "plan"});
    for (const Capabilities& world : capabilities())
      cells.emplace_back(row.point_to_point || world.has(row.kind) ? "library" : "plan");
  }
  Rows operations{header("combines")};
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) {
    const auto op = static_cast<ReduceOp>(i);
    std::vector<std::string>& cells =
        operations.emplace_back(std::vector<std::string>{fmt::format("{} of {}", name_of(op), dtypes_of(op)), "pdsim"});
    for (const Capabilities& world : capabilities()) cells.push_back(who_combines(world, op));
  }
  std::string text = aligned(kinds, first_width) + "\n" + aligned(operations, first_width);
  text +=
      "\nlibrary: the library's own function; pdsim's plans can run over its messages too. plan, pdsim: the library "
      "has none, and pdsim provides it.\nBuffers are in CPU memory. In addition, a scenario's `backend` rejects "
      "whatever PyTorch's backend of that name rejects.\n";
  return text;
}

}  // namespace pdsim::tools
