// Where a scenario differs from the one it began as, outside the parts that may change.
#pragma once

#include "scenarios/text/located.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

struct ChangedPart {
  std::string path;      // "world.link.bandwidth", "program[2]"
  Mark mark{};           // in the changed text; of a part that is gone: what held it, or line 0
  std::string original;  // the value it began with, on one line; empty for a part that was added
  bool is_gone = false, is_new = false;
};

// Compares values, not their layout: comments, blank lines and the order of keys are free, and so are the paths of `free` with all
// below them. Nothing: no other part differs, or one of the texts is not YAML.
std::optional<ChangedPart> first_change(const std::string& text, const std::string& original,
                                        const std::vector<std::string>& free);

}  // namespace pdsim::scenarios
