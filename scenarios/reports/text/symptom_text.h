// The answer of `pdsim explain` to an error text: the best entry, its certainty, the facts that the text proves, and related
// entries.
#pragma once

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Empty when no entry is close.
std::string symptom_page(std::string_view error_text);

// "missing-call: a rank never made a call in which the others wait", for the id of a diagnosis or the name of an error code.
std::string entry_title(std::string_view entry);

}  // namespace pdsim::scenarios
