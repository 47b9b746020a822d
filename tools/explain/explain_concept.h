// `pdsim explain` of a concept: a question such as "what is a bucket?", or the name alone.
#pragma once

#include "scenarios/concepts/concepts.h"
#include "tools/console/console.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// Writes its page into `page`, with the picture, which is drawn from a run. Returns the exit status; problems have been
// printed.
int explain_concept(const scenarios::Concept& row, std::string& page, Console& console);

// The names, for `did you mean`.
std::vector<std::string> concept_names();

}  // namespace pdsim::tools
