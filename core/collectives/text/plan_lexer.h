// The words of one line of a plan's text.
#pragma once

#include "core/collectives/text/plan_syntax.h"

#include <string_view>
#include <vector>

namespace pdsim::plan_syntax {

struct Token {
  std::string_view text;  // of the line; empty: the end of the line
  int column = 1;
  bool is_name = false, is_number = false;
};

// A line without its comment. `indent` counts its leading spaces.
struct Line {
  int number = 0;
  int indent = 0;
  std::vector<Token> tokens;  // the last one is the end
};

// Returns the lines that are not empty, or the first character that cannot occur in a plan.
std::variant<std::vector<Line>, PlanProblem> lines_of(std::string_view text);

}  // namespace pdsim::plan_syntax
