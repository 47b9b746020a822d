#include "tools/capability_tables.h"

#include "backends/capabilities.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

using Names = std::vector<std::string_view>;

// Of the dtypes that have the operation: those of the library's own, and those of pdsim's kernels.
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

std::string line_of(std::string text) { return text.substr(0, text.find_last_not_of(' ') + 1) + "\n"; }

std::string header(std::string_view first, int width) {
  std::string text = fmt::format("{:<{}}  {:<7}", first, width, "sim");
  for (const Capabilities& world : capabilities()) text += fmt::format("  {:<7}", world.world);
  return line_of(std::move(text));
}

}  // namespace

std::string capability_tables() {
  std::string text = header("collective", 38);
  for (const CollectiveRow& row : collective_table) {
    std::string line = fmt::format("{:<38}  {:<7}", row.name, "plan");
    for (const Capabilities& world : capabilities())
      line += fmt::format("  {:<7}", row.point_to_point || world.has(row.kind) ? "library" : "plan");
    text += line_of(line);
  }
  text += "\n" + header("combines", 38);
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) {
    const auto op = static_cast<ReduceOp>(i);
    std::string line = fmt::format("{:<38}  {:<7}", fmt::format("{} of {}", name_of(op), dtypes_of(op)), "pdsim");
    for (const Capabilities& world : capabilities()) line += fmt::format("  {:<7}", who_combines(world, op));
    text += line_of(line);
  }
  text +=
      "\nlibrary: its own; a plan of pdsim's runs over its messages as well. plan, pdsim: it has none, and pdsim's "
      "does it.\n"
      "Buffers lie in the CPU's memory. A scenario's `backend` refuses beyond that what PyTorch's backend of that name "
      "does.\n";
  return text;
}

}  // namespace pdsim::tools
