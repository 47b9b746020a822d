// The second level: keys, types and units, by the tables. What passes can be read without asking again.
#pragma once

#include "scenarios/language/document/tree.h"
#include "scenarios/language/tables/key.h"

namespace pdsim::scenarios::language {

// The whole file, or the effective document of a variant.
void check_shape(const Node& root, Problems& problems);
// Whether a value has the shape of its key.
bool fits(const Node& node, const Key& key);

// What a value of this key looks like, for messages: "a duration such as 5us".
std::string expected(const Key& key);
// The hint for users who write the old name of the key.
std::string renamed(const Key& now);

// What stands here for a word of scripts (if, for, save_checkpoint ...); empty: nothing is known.
std::string_view instead_of(std::string_view word);

}  // namespace pdsim::scenarios::language
