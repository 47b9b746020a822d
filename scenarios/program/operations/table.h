// What runs for the name of an operation. The names themselves are in scenarios/language/tables/operations_table.h.
#pragma once

#include "scenarios/program/session.h"

#include <string_view>

namespace pdsim::scenarios::operations {

// The function of a row; null for a name that is not an operation.
OperationFunction function_of(std::string_view name);
// The phase in which it runs; none for a name that is not an operation.
Phase phase_of(std::string_view name);

}  // namespace pdsim::scenarios::operations
