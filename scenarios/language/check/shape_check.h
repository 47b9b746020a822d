// The second level: keys, types and units, by the tables. Readers need no further checks on parts that pass.
#pragma once

#include "scenarios/language/document/tree.h"
#include "scenarios/language/tables/key.h"

namespace pdsim::scenarios::language {

// Checks the whole file, or the effective document of a variant.
void check_shape(const Node& root, Problems& problems);
// Whether a value has the shape of its key.
bool fits(const Node& node, const Key& key);

// Describes a value of this key, for messages: "a duration such as 5us".
std::string expected(const Key& key);
// The hint for users who write the old name of the key.
std::string renamed(const Key& now);

// The scenario's counterpart of a word of scripts (if, for, save_checkpoint ...); empty: there is none.
std::string_view instead_of(std::string_view word);

}  // namespace pdsim::scenarios::language
