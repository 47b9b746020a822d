// `pdsim explain` of a concept: a question such as "what is a bucket?", or the name alone.
#pragma once

#include "scenarios/concepts/concepts.h"
#include "tools/console/console.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// Prints the page with its picture, which is made by a run. Gives the exit status.
int explain_concept(const scenarios::Concept& row, Console& console);

// The names, for `did you mean`.
std::vector<std::string> concept_names();

}  // namespace pdsim::tools
