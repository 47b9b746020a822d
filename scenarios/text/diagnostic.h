// A problem in a scenario file: one error or warning, and how it is shown.
#pragma once

#include "scenarios/text/located.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios {

struct Diagnostic {
  bool warning = false;
  std::string what;  // "unknown key `bandwith` in world.link"
  Mark mark{};
  std::string label;  // beside the caret: "did you mean `bandwidth`?"
  std::string_view kind = "scenario";  // of the file: error[scenario]
};

// Renders `error[KIND]: ...` with the place in `file`, its line out of `text` and a caret under the mark; without a mark only the
// file. Long lines are shortened around the caret, and unprintable characters become question marks. Ends with a newline.
std::string render(std::string_view file, std::string_view text, const Diagnostic& diagnostic);

}  // namespace pdsim::scenarios
