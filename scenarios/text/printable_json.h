// JSON as pdsim prints and writes it for others.
#pragma once

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// The first member of every object that --json prints. Incremented when a member is removed or changes its meaning.
inline constexpr int json_version = 1;

// The same JSON, with texts and keys that are printable (core/base/printable.h) even after a reader has decoded them. `json` must
// be valid, and escape no more than it must.
std::string printable_json(std::string_view json);

}  // namespace pdsim::scenarios
