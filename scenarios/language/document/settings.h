// Applies `set` of a variant to the document.
#pragma once

#include "scenarios/language/document/tree.h"

namespace pdsim::scenarios::language {

// The document without `variants`, with this variant's `expect` and `real` and its settings applied. Positions are kept: those of
// replaced values are in `set`. A path that names nothing is a problem, and is left out.
Node effective(const Node& root, const Entry& variant, Problems& problems);

// The document without `variants`.
Node base_of(const Node& root);

}  // namespace pdsim::scenarios::language
