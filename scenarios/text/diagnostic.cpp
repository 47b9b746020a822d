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

}  // namespace

std::string render(std::string_view file, std::string_view text, const Diagnostic& d) {
  std::string out = fmt::format("{}[{}]: {}\n", d.warning ? "warning" : "error", d.kind, d.what);
  if (d.mark.line <= 0) return out + fmt::format("  --> {}\n  = {}\n", file, d.label);
  out += fmt::format("  --> {}:{}:{}\n", file, d.mark.line, d.mark.column);
  std::string_view line = line_of(text, d.mark.line);
  std::size_t before = std::min(static_cast<std::size_t>(std::max(d.mark.column - 1, 0)), line.size());
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
  const std::size_t width = std::min(static_cast<std::size_t>(std::max(d.mark.width, 1)), shown.size() - before);
  const std::string number = std::to_string(d.mark.line);
  const std::string gutter(number.size(), ' ');
  const std::string spaces(cut.size() + characters(printable(shown.substr(0, before))), ' ');
  const std::string carets(std::max<std::size_t>(1, characters(printable(shown.substr(before, width)))), '^');
  out += fmt::format("{} |\n", gutter);
  out += fmt::format("{} | {}{}{}\n", number, cut, printable(shown), shown.size() < line.size() ? "..." : "");
  out += fmt::format("{} | {}{}{}{}\n", gutter, spaces, carets, d.label.empty() ? "" : " ", d.label);
  return out;
}

}  // namespace pdsim::scenarios
