#include "core/semantics/capabilities.h"

#include "core/base/check.h"
#include "core/collectives/reduce.h"
#include "core/semantics/libraries.h"

#include <fmt/format.h>

#include <array>

namespace pdsim {
namespace {

using K = CollectiveKind;

constexpr auto worlds = [] {
  std::array<Capabilities, real_library_names.size()> rows{};
  std::size_t at = 0;
  for (const Library& library : library_table)
    if (library.real) rows[at++] = *library.real;
  return rows;
}();

const Refusals* refusals_of(const LibrarySemantics& library, const Profile& profile) {
  for (const Library& known : library_table)
    for (const Refusals& row : known.refusals)
      if (known.semantics.name == library.name && (row.profile.empty() || row.profile == profile.name)) return &row;
  return nullptr;
}

Error unsupported(const LibrarySemantics& library, const Profile& profile, const Collective& call, std::string_view what) {
  return {Code::unsupported,
          fmt::format("{}: {} of {} does not offer {}; the ideal backend does", name_of(call.kind), library.name,
                      profile.name, what),
          {{"in", std::string(name_of(call.kind))}, {"backend", std::string(library.name)}}};
}

Error refused_operation(const LibrarySemantics& library, const Profile& profile, const Collective& call) {
  Error error = unsupported(library, profile, call, fmt::format("{} for {}", name_of(call.op), name_of(call.dtype)));
  error.facts.push_back({"reduce_op", std::string(name_of(call.op))});
  return error;
}

}  // namespace

std::span<const Capabilities> capabilities() { return worlds; }

const Capabilities& capabilities_of(std::string_view world) {
  for (const Capabilities& row : worlds)
    if (row.world == world) return row;
  PDSIM_CHECK(false, "a world without a row of capabilities was asked for them");
  return worlds[0];
}

Status check_supported(const LibrarySemantics& library, const Profile& profile, const Collective& call) {
  const Refusals* refuses = refusals_of(library, profile);
  if (refuses == nullptr) return {};
  const CollectiveRow& kind = row(call.kind);
  if (refuses->kinds.has(call.kind)) return unsupported(library, profile, call, "this operation");
  if (refuses->any_source && call.kind == K::recv && call.root == any_source)
    return unsupported(library, profile, call, "a receive from any source");
  if (kind.point_to_point || !kind.has_input) return {};
  if (refuses->dtypes.has(call.dtype))
    return unsupported(library, profile, call, fmt::format("the dtype {}", name_of(call.dtype)));
  if (!kind.reduces) return {};
  const bool factor = call.op == ReduceOp::premul_sum && refuses->premul_dtypes.has(call.dtype);
  // A bitwise op on floats is refused by its own sentence, which holds for every library.
  if (factor || (refuses->ops.has(call.op) && supports(call.op, call.dtype)))
    return refused_operation(library, profile, call);
  return {};
}

}  // namespace pdsim
