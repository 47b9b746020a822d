// Reads the words of one line: expressions and slices. It keeps the first problem, and returns empty values after it.
#pragma once

#include "core/collectives/text/plan_lexer.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim::plan_syntax {

// The names in scope at a line, and their slots.
using Names = std::map<std::string, int, std::less<>>;

class WordReader {
 public:
  WordReader(const Line& line, const Names& names, Syntax& syntax) : line_(line), names_(names), syntax_(syntax) {}

  const Token& next() const { return line_.tokens[at_]; }
  bool at_end() const { return next().text.empty(); }
  // Consumes the word if it is the next one.
  bool take(std::string_view word);
  void expect(std::string_view word, std::string_view why);
  std::string name(std::string_view what);
  int expression();  // a term of the syntax
  SliceText slice();
  void end();  // reports anything that follows

  PlanMark here() const;
  PlanMark since(int column) const;  // from there to the last word read
  void fail(const PlanMark& at, std::string what, std::string label);
  void fail(std::string what, std::string label) { fail(here(), std::move(what), std::move(label)); }
  const std::optional<PlanProblem>& problem() const { return problem_; }

 private:
  int binary(std::size_t level);
  int operand();
  int function(const Token& word);
  int term(Operator what, std::int64_t number, int left, int right, const PlanMark& at);
  void piece(SliceText& slice);

  const Line& line_;
  const Names& names_;
  Syntax& syntax_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<PlanProblem> problem_;
};

}  // namespace pdsim::plan_syntax
