#include "core/collectives/text/plan_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pdsim::plan_syntax {
namespace {

constexpr std::size_t most_bytes = 64 << 10;
constexpr int most_lines = 2000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many characters from `at` on make one word; 0: none can begin so.
std::size_t length_of(std::string_view line, std::size_t at) {
  const auto run = [&](auto fits) {
    std::size_t end = at;
    while (end < line.size() && fits(line[end])) ++end;
    return end - at;
  };
  if (is_letter(line[at])) return run([](char c) { return is_letter(c) || is_digit(c); });
  if (is_digit(line[at])) return run(is_digit);
  constexpr std::array<std::string_view, 9> pairs{"->", "<-", "..", "<<", ">>", "==", "!=", "<=", ">="};
  for (const std::string_view pair : pairs)
    if (line.substr(at, 2) == pair) return 2;
  return std::string_view("()[]:,+-*/%^&|<>=").find(line[at]) != std::string_view::npos ? 1 : 0;
}

std::string shown(char c) {
  if (c == '\t') return "a tab";
  return c > ' ' && c < 127 ? fmt::format("`{}`", c) : fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::variant<std::vector<Line>, PlanProblem> lines_of(std::string_view text) {
  if (text.size() > most_bytes)
    return PlanProblem{{1, 1, 1}, fmt::format("the text has {} bytes", text.size()), "the limit is 64 KiB"};
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > most_lines) return PlanProblem{{number, 1, 1}, "too many lines", "the limit is 2,000"};
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (begin == line.size()) continue;
    Line& kept = lines.emplace_back();
    kept.number = number;
    kept.indent = static_cast<int>(begin);
    for (std::size_t at = begin; at < line.size();) {
      const std::size_t length = length_of(line, at);
      const int column = static_cast<int>(at) + 1;
      if (length == 0)
        return PlanProblem{{number, column, 1},
                           fmt::format("{} is not allowed in a plan", shown(line[at])),
                           line[at] == '\t' ? "indent with spaces" : "see docs/plans.md for the form"};
      Token token;
      token.text = line.substr(at, length);
      token.column = column;
      token.is_name = is_letter(line[at]);
      token.is_number = is_digit(line[at]);
      kept.tokens.push_back(token);
      at += length;
      while (at < line.size() && line[at] == ' ') ++at;
    }
    Token last;
    last.column = static_cast<int>(line.size()) + 1;
    kept.tokens.push_back(last);
  }
  return lines;
}

}  // namespace pdsim::plan_syntax
