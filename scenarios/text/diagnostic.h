// A problem in a scenario file: one error or warning, and how it is shown.
#pragma once

#include "scenarios/text/located.h"

#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

// A place in another file that a problem comes from, as a line of a plan that a scenario uses.
struct OtherPlace {
  std::string file, text;  // its path and content
  Mark mark{};
  std::string label;  // beside the caret
};

struct Diagnostic {
  bool warning = false;
  std::string what;  // "unknown key `bandwith` in world.link"
  Mark mark{};
  std::string label;  // beside the caret: "did you mean `bandwidth`?"
  std::string_view kind = "scenario";  // of the file: error[scenario]
  std::optional<OtherPlace> cause{};   // shown below
};

// Renders `error[KIND]: ...` with the place in `file`, its line out of `text` and a caret under the mark; without a mark only the
// file. Long lines are shortened around the caret, and unprintable characters become question marks. The cause follows in the same form. Ends with a newline.
std::string render(std::string_view file, std::string_view text, const Diagnostic& diagnostic);

}  // namespace pdsim::scenarios
