// THE table of operations: those allowed in `program`, and in the `do` of train. Loader, checks, schema, `pdsim list` and the
// rank x step table take names, options, defaults and explanations from here.
//
// Adding one: its function, its keys and its row, all in one file of scenarios/program/operations, whose table.cpp implements the
// declarations here. Options that others read too, such as checks and rules, are in operation_options.h.
#pragma once

#include "core/collectives/collective_kind.h"
#include "scenarios/language/tables/key.h"

#include <optional>
#include <span>
#include <string_view>

namespace pdsim::scenarios::language {

std::span<const Key> operation_table();

// Returns null for an unknown operation.
const Key* operation_named(std::string_view name);

// The collective of an operation, or nothing if it is none or several. `splits`: it gives the sizes of its parts.
std::optional<CollectiveKind> collective_of(std::string_view operation, bool splits = false);

// The collectives that implement an object collective, in order; none for other operations.
std::span<const CollectiveKind> collectives_of_objects(std::string_view operation);

}  // namespace pdsim::scenarios::language
