#include "scenarios/text/text_layout.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {

namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// The characters of a text from `first` on, at most `most` of them.
std::string_view columns_of(std::string_view text, std::size_t first, std::size_t most) {
  std::size_t columns = 0, begin = text.size(), end = text.size();
  for (std::size_t i = 0; i < text.size() && end == text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (columns == first) begin = i;
    if (columns == first + most) end = i;
    ++columns;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut(std::string_view text, std::size_t width) {
  return width_of(text) <= width ? std::string(text) : std::string(columns_of(text, 0, width - 3)) + "...";
}

namespace {

// The words of a text in lines of at most `width` columns; a longer word goes on in the next line.
std::vector<std::string> lines_within(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t columns = 0;  // of the line
  const auto flush = [&] {
    if (!line.empty()) lines.push_back(std::exchange(line, {}));
    columns = 0;
  };
  while (!text.empty()) {
    const std::size_t space = text.find_first_of(" \n");
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    if (!line.empty() && columns + 1 + width_of(word) > width) flush();
    while (width_of(word) > width) {
      lines.emplace_back(columns_of(word, 0, width));
      word.remove_prefix(lines.back().size());
    }
    if (!line.empty()) line += ' ', ++columns;
    line += word;
    columns += width_of(word);
  }
  flush();
  return lines;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  for (const std::string& line : lines_within(text, text_width - indent)) out += std::string(indent, ' ') + line + "\n";
  return out;
}

std::string beside(std::string_view head, std::string_view text) {
  constexpr std::size_t least_room = 20, below = 6;
  const std::size_t column = width_of(head);
  std::string line(head);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (column + least_room > text_width) return line + "\n" + wrapped(text, below);
  const std::string body = wrapped(text, column);
  return body.empty() ? line + "\n" : std::string(head) + body.substr(column);
}

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    longest = std::max(longest, width_of(text.substr(0, space)));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return longest;
}

// The widths of the columns. Where they are wider than the page together, the widest becomes narrower, down to its longest word.
std::vector<std::size_t> column_widths(const Rows& rows) {
  std::vector<std::size_t> widths, least;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    least.resize(widths.size(), 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
      least[i] = std::max(least[i], longest_word(row[i]));
    }
  }
  std::size_t all = 2 * widths.size();
  for (const std::size_t width : widths) all += width;
  while (all > text_width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size()) break;
    const std::size_t less = std::min(all - text_width, widths[widest] - least[widest]);
    widths[widest] -= less;
    all -= less;
  }
  return widths;
}

}  // namespace

std::string table(const Rows& rows) {
  const std::vector<std::size_t> widths = column_widths(rows);
  std::string out;
  for (const auto& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_whole = width_of(row[i]) <= widths[i];
      cells.push_back(is_whole ? std::vector<std::string>{row[i]} : lines_within(row[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t n = 0; n < height; ++n) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string& part = n < cells[i].size() ? cells[i][n] : std::string();
        line += "  " + part + std::string(widths[i] - width_of(part), ' ');
      }
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += line + "\n";
    }
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

// The part of a line that is shown: all of it, or of a long line what stands around a span.
struct Part {
  int line = 0;
  std::size_t first = 0, end = 0;  // characters of the line
  std::size_t column = 0;          // where `first` is shown, beside the gutter
  std::string text;

  bool holds(std::size_t from, std::size_t to) const { return from >= first && to <= end; }
};

Part part_around(int line, const std::string& whole, std::size_t from, std::size_t width, std::size_t room) {
  constexpr std::string_view dots = "...";
  const std::size_t all = width_of(whole);
  if (all <= room) return {line, 0, all, 0, whole};
  const std::size_t most = room - 2 * dots.size();
  const std::size_t before = width < most ? (most - width) / 2 : 0;
  std::size_t first = from > before ? from - before : 0;
  if (from + width <= room - dots.size()) first = 0;
  if (first + most >= all) first = all - most;
  Part part{line, first, std::min(all, first + most), first > 0 ? dots.size() : 0, {}};
  if (first == 0) part.end = room - dots.size();
  if (part.end + dots.size() >= all) part.end = all;
  part.text = fmt::format("{}{}{}", first > 0 ? dots : "", columns_of(whole, first, part.end - first),
                          part.end < all ? dots : "");
  return part;
}

// The caret line of a span in the part of its line. The label goes beside the caret, or to lines of its own when there is no room.
std::string caret(const Span& span, std::string_view gutter, const Part& part, std::size_t from, std::size_t width) {
  const std::size_t begin = part.column + std::max(from, part.first) - part.first;
  const std::size_t marks = std::max<std::size_t>(std::min(from + width, part.end) - std::min(from, part.end), 1);
  const std::string line =
      fmt::format("{}{}{}", gutter, std::string(begin, ' '), std::string(marks, span.primary ? '^' : '-'));
  const std::string together = line + " " + span.label;
  if (width_of(together) <= text_width) return together + "\n";
  constexpr std::size_t least_room = 40;
  const std::size_t room = text_width - width_of(gutter);
  const std::size_t label = width_of(span.label) <= room ? width_of(span.label) : least_room;
  const std::size_t indent = std::min(begin, room - label);
  std::string out = line + "\n";
  for (const std::string& words : lines_within(span.label, room - indent))
    out += fmt::format("{}{}{}\n", gutter, std::string(indent, ' '), words);
  return out;
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
  const std::size_t room = text_width - gutter.size();
  Part shown;
  out += std::string(digits, ' ') + " |\n";
  for (const Span& span : spans) {
    const std::string number = fmt::format("{:>{}} | ", span.line, digits);
    const std::string text = shown_line(source, span.line);
    if (text.empty()) {
      out += beside(number, span.label);
      continue;
    }
    const std::size_t all = width_of(text);
    const std::size_t from = std::min(static_cast<std::size_t>(std::max(span.column - 1, 0)), all);
    const std::size_t width = std::min(static_cast<std::size_t>(std::max(span.width, 1)), all - from);
    if (span.line != shown.line || !shown.holds(from, from + width)) {
      shown = part_around(span.line, text, from, width, room);
      out += number + shown.text + "\n";
    }
    out += caret(span, gutter, shown, from, width);
  }
  return out;
}

}  // namespace pdsim::scenarios
