// What `pdsim explain` prints for an error text: the entry that it fits best, how sure that is, what the text proves, and entries nearby.
#pragma once

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Empty when no entry comes near.
std::string symptom_page(std::string_view error_text);

// "missing-call: a rank never made a call that the others wait in", for the id of a diagnosis or the name of an error code.
std::string entry_title(std::string_view entry);

}  // namespace pdsim::scenarios
