// The picture of a concept, produced by running the thing that its row names.
#pragma once

#include "core/base/result.h"
#include "scenarios/concepts/concepts.h"

#include <string>

namespace pdsim::scenarios {

constexpr int ranks_of_pictures = 4;

// Text of at most 100 columns; empty for a row without a picture. `file` is the path of the catalog's file named by a row of kind
// `run`, and is read for no other kind.
//   cost     one run in the simulator, milliseconds
//   errors   those of loading or running
Result<std::string> draw_concept(const ConceptPicture& picture, const std::string& file);

// The values of each of `ranks_of_pictures` ranks before and after one call, which is run in the simulator with whole numbers:
// element i of rank r is 10r + i. Calls with a root use root 1.
Result<std::string> draw_values(CollectiveKind kind);

}  // namespace pdsim::scenarios
