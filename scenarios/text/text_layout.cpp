#include "scenarios/text/text_layout.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t columns = 0, end = 0;
  for (; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (starts && columns + 3 >= width) break;
    if (starts) ++columns;
  }
  return std::string(text.substr(0, end)) + "...";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out, line;
  const auto flush = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t space = text.find_first_of(" \n");
    std::string word(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    if (!line.empty() && indent + width_of(line) + 1 + width_of(word) > text_width) flush();
    if (width_of(word) + indent > text_width) word = cut(word, text_width - indent);
    line += line.empty() ? word : " " + word;
  }
  flush();
  return out;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? " " : "  ") + row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width_of(row[i]), ' ');
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += cut(line, text_width) + "\n";
  }
  return out;
}

std::string_view line_of(std::string_view text, int number) {
  for (int n = 1; n < number; ++n) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, std::min(text.size(), text.find_first_of("\r\n")));
}

namespace {

std::string shown_line(std::string_view source, int number) { return printable(line_of(source, number)); }

// A place in the indentation, which is all that some know of a line, is where the line begins.
void skip_indentation(Span& span, std::string_view source) {
  const std::size_t first = line_of(source, span.line).find_first_not_of(" \t");
  if (first != std::string_view::npos) span.column = std::max(span.column, static_cast<int>(first) + 1);
}

// The caret line of a span, within the text or at its end. The label goes beside the caret, or to a line of its own when there is no room.
std::string caret(const Span& span, std::string_view gutter, std::size_t line_width) {
  const std::size_t before = std::min(static_cast<std::size_t>(std::max(span.column - 1, 0)), line_width);
  const std::size_t width = std::min(static_cast<std::size_t>(std::max(span.width, 1)), line_width - before);
  const std::string mark(std::max<std::size_t>(width, 1), span.primary ? '^' : '-');
  const std::string line = fmt::format("{}{}{}", gutter, std::string(before, ' '), mark);
  const std::string together = line + " " + span.label;
  if (width_of(together) <= text_width) return together + "\n";
  const std::size_t room = text_width - width_of(gutter);
  const std::size_t indent = std::min(before, room > width_of(span.label) ? room - width_of(span.label) : 0);
  return cut(line, text_width) + "\n" +
         cut(fmt::format("{}{}{}", gutter, std::string(indent, ' '), span.label), text_width) + "\n";
}

}  // namespace

std::string excerpt(std::string_view file, std::string_view source, std::vector<Span> spans) {
  if (spans.empty()) return {};
  for (Span& span : spans) skip_indentation(span, source);
  const auto primary = std::find_if(spans.begin(), spans.end(), [](const Span& s) { return s.primary; });
  const Span& first = primary != spans.end() ? *primary : spans.front();
  std::string out = fmt::format("  --> {}:{}:{}\n", file, first.line, first.column);
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  const std::size_t digits = std::to_string(spans.back().line).size();
  const std::string gutter = std::string(digits, ' ') + " | ";
  int shown = 0;
  out += std::string(digits, ' ') + " |\n";
  for (const Span& span : spans) {
    const std::string text = shown_line(source, span.line);
    if (text.empty()) {
      out += cut(fmt::format("{:>{}} | {}", span.line, digits, span.label), text_width) + "\n";
      continue;
    }
    if (span.line != shown) out += cut(fmt::format("{:>{}} | {}", span.line, digits, text), text_width) + "\n";
    shown = span.line;
    out += caret(span, gutter, width_of(text));
  }
  return out;
}

}  // namespace pdsim::scenarios
