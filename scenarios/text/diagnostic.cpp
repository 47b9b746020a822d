#include "scenarios/text/diagnostic.h"

#include "core/base/printable.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_shown = 90;  // bytes of a source line

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

// The place, its line and the caret.
std::string excerpt(std::string_view file, std::string_view text, const Mark& mark, std::string_view label) {
  std::string out = fmt::format("  --> {}:{}:{}\n", file, mark.line, mark.column);
  std::string_view line = line_of(text, mark.line);
  std::size_t before = std::min(static_cast<std::size_t>(std::max(mark.column - 1, 0)), line.size());
  std::string cut;
  if (line.size() > most_shown && before > most_shown / 2) {  // a long line: the part around the caret
    std::size_t drop = before - most_shown / 2;
    while (drop < before && continues(line[drop])) ++drop;
    line.remove_prefix(drop);
    before -= drop;
    cut = "...";
  }
  std::string_view shown = line.substr(0, std::min(line.size(), most_shown));
  while (shown.size() < line.size() && !shown.empty() && continues(line[shown.size()])) shown.remove_suffix(1);
  before = std::min(before, shown.size());
  const std::size_t width = std::min(static_cast<std::size_t>(std::max(mark.width, 1)), shown.size() - before);
  const std::string number = std::to_string(mark.line);
  const std::string gutter(number.size(), ' ');
  const std::string spaces(cut.size() + characters(printable(shown.substr(0, before))), ' ');
  const std::string carets(std::max<std::size_t>(1, characters(printable(shown.substr(before, width)))), '^');
  out += fmt::format("{} |\n", gutter);
  out += fmt::format("{} | {}{}{}\n", number, cut, printable(shown), shown.size() < line.size() ? "..." : "");
  out += fmt::format("{} | {}{}{}{}\n", gutter, spaces, carets, label.empty() ? "" : " ", label);
  return out;
}

}  // namespace

std::string render(std::string_view file, std::string_view text, const Diagnostic& d) {
  const std::string head = fmt::format("{}[{}]: {}\n", d.warning ? "warning" : "error", d.kind, d.what);
  std::string out = head + (d.mark.line > 0 ? excerpt(file, text, d.mark, d.label) : fmt::format("  --> {}\n  = {}\n", file, d.label));
  if (d.cause) out += excerpt(d.cause->file, d.cause->text, d.cause->mark, d.cause->label);
  return out;
}

}  // namespace pdsim::scenarios
