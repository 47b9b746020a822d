// What of a document is right in shape, so that its meaning can be checked although other parts are broken.
#pragma once

#include "scenarios/language/document/problems.h"
#include "scenarios/language/document/tree.h"

namespace pdsim::scenarios::language {

struct WholeParts {
  Node document;
  bool complete = true;  // nothing was left out
};

// Leaves out each section that is broken; of `program` only the broken entries (what a broken `train` or `join` holds
// stays, in its place), of `world` all but its size. Adds no error to `problems`, but the facts that what
// was left out might have stated. Cost: the check of the shape, once per level of nesting of the program.
WholeParts whole_parts(const Node& document, Problems& problems);

}  // namespace pdsim::scenarios::language
