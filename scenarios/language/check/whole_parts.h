// The parts of a document with a valid shape, so that their meaning can be checked although other parts are broken.
#pragma once

#include "scenarios/language/document/problems.h"
#include "scenarios/language/document/tree.h"

namespace pdsim::scenarios::language {

struct WholeParts {
  Node document;
  bool complete = true;  // nothing was left out
};

// Leaves out each broken section; of `program` only the broken entries (the contents of a broken `train` or `join`
// stay, in its place), of `world` everything but its size. Adds no error to `problems`, but the facts that the omitted
// parts might have stated. Cost: one shape check per level of nesting of the program.
WholeParts whole_parts(const Node& document, Problems& problems);

}  // namespace pdsim::scenarios::language
