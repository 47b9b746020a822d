#include "scenarios/language/document/open_bracket.h"

#include <algorithm>
#include <vector>

namespace pdsim::scenarios {
namespace {

struct OpenBracket {
  char bracket;
  Mark at;
};

// One line, outside of quotes at its start: flow values that are open at its end are on the stack.
void read_line(std::string_view line, int number, std::vector<OpenBracket>& open) {
  char quote = '\0', before = ':';  // the last character that is not a space; a line begins a value, as a colon does
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = '\0';
      continue;
    }
    const bool begins_value = std::string_view(":-,[{?").find(before) != std::string_view::npos;
    if (c == '#' && (i == 0 || line[i - 1] == ' ')) return;
    if ((c == '"' || c == '\'') && begins_value) quote = c;
    if ((c == '[' || c == '{') && (begins_value || !open.empty())) open.push_back({c, {number, static_cast<int>(i) + 1, 1}});
    if ((c == ']' || c == '}') && !open.empty()) open.pop_back();
    if (c != ' ') before = c;
  }
}

}  // namespace

std::optional<Mark> last_open_bracket(std::string_view text, char bracket) {
  std::vector<OpenBracket> open;
  int number = 1;
  for (std::size_t at = 0; at <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    read_line(text.substr(at, end - at), number, open);
    at = end + 1;
  }
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenBracket& one) { return one.bracket == bracket; });
  return found == open.rend() ? std::nullopt : std::optional(found->at);
}

}  // namespace pdsim::scenarios
