#include "core/collectives/text/plan_words.h"

#include "core/base/nearest.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

namespace pdsim::plan_syntax {
namespace {

constexpr int most_depth = 24;

struct Binary {
  std::string_view word;
  Operator what;
};
// From the loosest to the tightest, as in C where it matters; the operators of one level go from left to right.
constexpr std::array<std::array<Binary, 6>, 6> levels{{
    {{{"or", Operator::either}}},
    {{{"and", Operator::both}}},
    {{{"==", Operator::equal},
      {"!=", Operator::unequal},
      {"<=", Operator::at_most},
      {">=", Operator::at_least},
      {"<", Operator::less},
      {">", Operator::more}}},
    {{{"|", Operator::bit_or}, {"^", Operator::bit_xor}, {"&", Operator::bit_and}}},
    {{{"<<", Operator::shift_left}, {">>", Operator::shift_right}, {"+", Operator::add}, {"-", Operator::subtract}}},
    {{{"*", Operator::multiply}, {"/", Operator::divide}, {"%", Operator::modulo}}},
}};

std::optional<BufferId> buffer_named(std::string_view word) {
  if (word == "input") return BufferId::input;
  if (word == "output") return BufferId::output;
  if (word == "scratch") return BufferId::scratch;
  return std::nullopt;
}

}  // namespace

PlanMark WordReader::here() const {
  const Token& token = next();
  return {line_.number, token.column, std::max(1, static_cast<int>(token.text.size()))};
}

PlanMark WordReader::since(int column) const {
  if (at_ == 0) return here();
  const Token& last = line_.tokens[at_ - 1];
  return {line_.number, column, std::max(1, last.column + static_cast<int>(last.text.size()) - column)};
}

void WordReader::fail(const PlanMark& at, std::string what, std::string label) {
  if (!problem_) problem_ = PlanProblem{at, std::move(what), std::move(label)};
  at_ = line_.tokens.size() - 1;
}

bool WordReader::take(std::string_view word) {
  if (next().text != word) return false;
  ++at_;
  return true;
}

void WordReader::expect(std::string_view word, std::string_view why) {
  if (take(word)) return;
  fail(at_end() ? fmt::format("`{}` is missing", word) : fmt::format("`{}` where `{}` belongs", next().text, word),
       std::string(why));
}

std::string WordReader::name(std::string_view what) {
  if (!next().is_name) {
    fail(fmt::format("a name is missing: {}", what), "letters, digits and _, a letter first");
    return {};
  }
  return std::string(line_.tokens[at_++].text);
}

void WordReader::end() {
  if (!at_end()) fail(fmt::format("`{}` is not expected here", next().text), "write one statement per line");
}

int WordReader::term(Operator what, std::int64_t number, int left, int right, const PlanMark& at) {
  Term one;
  one.what = what;
  one.number = number;
  one.left = left;
  one.right = right;
  one.at = at;
  syntax_.terms.push_back(one);
  return static_cast<int>(syntax_.terms.size()) - 1;
}

int WordReader::expression() {
  if (++depth_ > most_depth) fail("parentheses are nested too deep", "the limit is 24");
  const int whole = binary(0);
  --depth_;
  return whole;
}

int WordReader::binary(std::size_t level) {
  if (level == levels.size()) return operand();
  const int column = next().column;
  int left = binary(level + 1);
  while (!problem_) {
    const Binary* found = nullptr;
    for (const Binary& one : levels[level])
      if (!one.word.empty() && next().text == one.word) found = &one;
    // `-> r+1 +`: the last + of a line adds what arrives.
    if (found == nullptr || (found->what == Operator::add && line_.tokens[at_ + 1].text.empty())) break;
    ++at_;
    const int right = binary(level + 1);
    left = term(found->what, 0, left, right, since(column));
  }
  return left;
}

int WordReader::function(const Token& word) {
  constexpr std::array<std::pair<std::string_view, Operator>, 4> functions{{{"log2", Operator::log2},
                                                                            {"ceil_log2", Operator::ceil_log2},
                                                                            {"min", Operator::least},
                                                                            {"max", Operator::most}}};
  for (const auto& one : functions) {
    if (one.first != word.text) continue;
    expect("(", "such as log2(p) or min(a, b)");
    const int left = expression();
    const bool two = one.second == Operator::least || one.second == Operator::most;
    if (two) expect(",", "min and max take two numbers");
    const int right = two ? expression() : -1;
    expect(")", "close the call here");
    return term(one.second, 0, left, right, since(word.column));
  }
  fail({line_.number, word.column, static_cast<int>(word.text.size())}, fmt::format("unknown function `{}`", word.text),
       "expected log2, ceil_log2, min or max");
  return -1;
}

int WordReader::operand() {
  const Token word = next();
  const PlanMark at = here();
  if (problem_) return -1;
  if (take("(")) {
    const int inner = expression();
    expect(")", "close the parenthesis here");
    return inner;
  }
  if (word.text == "-" || word.text == "not") {
    ++at_;
    if (++depth_ > most_depth) fail("too many signs in a row", "the limit is 24");
    const int inner = word.text == "not" ? binary(2) : operand();
    --depth_;
    return term(word.text == "-" ? Operator::negate : Operator::invert, 0, inner, -1, since(word.column));
  }
  if (word.is_number) {
    ++at_;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), value);
    if (code != std::errc()) fail(at, fmt::format("{} is too large", word.text), "numbers have 64 bits");
    return term(Operator::number, value, -1, -1, at);
  }
  if (!word.is_name) {
    fail(word.text.empty() ? std::string("a number or a name is missing")
                           : fmt::format("`{}` where a number or a name belongs", word.text),
         "such as r, p-1 or (r-k+1)");
    return -1;
  }
  ++at_;
  if (next().text == "(") return function(word);
  const auto known = names_.find(word.text);
  if (known != names_.end()) return term(Operator::variable, known->second, -1, -1, at);
  std::vector<std::string> names;
  for (const auto& one : names_) names.push_back(one.first);
  const auto close = nearest(word.text, std::span<const std::string>(names));
  fail(at, fmt::format("unknown name `{}`", word.text),
       close ? fmt::format("did you mean `{}`?", *close) : "use p, r, n, root, or a name from `for` or `let`");
  return -1;
}

void WordReader::piece(SliceText& slice) {
  if (take("chunk")) {
    slice.piece = Piece::chunk;
    slice.first = expression();
  } else if (take("chunks")) {
    slice.piece = Piece::chunks;
    slice.first = expression();
    expect("..", "such as chunks 0..3");
    slice.last = expression();
  } else if (take("part")) {
    slice.piece = Piece::part;
    slice.first = expression();
    return;
  } else if (slice.buffer && take("[")) {
    slice.piece = Piece::elements;
    slice.first = expression();
    expect(":", "such as output[0:4], without the end");
    slice.last = expression();
    expect("]", "such as output[0:4]");
    return;
  } else {
    return;
  }
  if (take("of")) slice.of = expression();
}

SliceText WordReader::slice() {
  SliceText slice;
  const int column = next().column;
  if (take("nothing")) {
    slice.piece = Piece::nothing;
  } else if (!take("all")) {
    slice.buffer = buffer_named(next().text);
    if (slice.buffer) ++at_;
    const std::size_t before = at_;
    piece(slice);
    if (!slice.buffer && at_ == before)
      fail(at_end() ? std::string("a slice is missing") : fmt::format("`{}` where a slice belongs", next().text),
           "all, chunk E, chunks A..B, part E, input, output[A:B], scratch[A:B] or nothing");
  }
  slice.at = since(column);
  return slice;
}

}  // namespace pdsim::plan_syntax
