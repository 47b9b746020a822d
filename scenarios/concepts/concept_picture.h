// The picture of a concept, made by running what its row names.
#pragma once

#include "core/base/result.h"
#include "scenarios/concepts/concepts.h"

#include <string>

namespace pdsim::scenarios {

constexpr int ranks_of_pictures = 4;

// Text of at most 100 columns; empty for a row without a picture. `file` is the path of the catalog's file that a row of kind `run`
// names, and is read for no other kind.
//   cost     one run in the simulator, milliseconds
//   errors   what loading or running gives
Result<std::string> draw_concept(const ConceptPicture& picture, const std::string& file);

// What each of `ranks_of_pictures` ranks holds before and after one call, which is run in the simulator with whole numbers: element i
// of rank r is 10r + i. Ranks that call with a root have root 1.
Result<std::string> draw_values(CollectiveKind kind);

}  // namespace pdsim::scenarios
