// Causes of error texts that no flight record shows, because they lie outside the calls of the ranks: the machine, its network, the build of
// PyTorch, the launcher. `pdsim explain` has a page for each, like that of a diagnosis; no rule finds them.
//
//   adding    one row, and the rows of the symptom table that name it
#pragma once

#include <span>
#include <string_view>

namespace pdsim::scenarios {

struct OutsideCause {
  std::string_view name;   // no diagnosis or error code has it
  std::string_view title;  // one line
  std::string_view text;   // what happens, and after an empty line the fix
};

std::span<const OutsideCause> outside_causes();

// The row with this name; null when there is none.
const OutsideCause* outside_cause_named(std::string_view name);

}  // namespace pdsim::scenarios
