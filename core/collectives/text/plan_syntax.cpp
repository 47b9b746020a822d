#include "core/collectives/text/plan_syntax.h"

#include "core/base/nearest.h"
#include "core/collectives/text/plan_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace pdsim {
namespace plan_syntax {
namespace {

constexpr int most_blocks = 24;

std::string kinds() {
  std::string text;
  for (const CollectiveRow& row : collective_table)
    if (row.planned && !row.shape.uneven) text += fmt::format("{}{}", text.empty() ? "" : ", ", row.name);
  return text;
}

class Parser {
 public:
  explicit Parser(std::vector<Line> lines) : lines_(std::move(lines)) {
    names_ = {{"p", slot_p}, {"r", slot_r}, {"n", slot_n}, {"root", slot_root}};
  }

  std::variant<Syntax, PlanProblem> whole() {
    if (lines_.empty()) return PlanProblem{{1, 1, 1}, "the plan is empty", "it begins with `plan all_reduce my_ring`"};
    header();
    while (!problem_ && at_ < lines_.size() && setting()) ++at_;
    if (!problem_ && at_ < lines_.size()) block(syntax_.body, lines_[at_].indent, 0, false);
    if (!problem_ && at_ < lines_.size())
      problem_ = PlanProblem{{lines_[at_].number, lines_[at_].indent + 1, 1},
                             "this line is indented less than the first statement",
                             "align the statements of a block"};
    if (problem_) return *problem_;
    return std::move(syntax_);
  }

 private:
  WordReader reader() { return WordReader(lines_[at_], names_, syntax_); }
  bool keep(const WordReader& words) {
    if (words.problem() && !problem_) problem_ = words.problem();
    return !problem_;
  }

  void header() {
    WordReader words = reader();
    if (!words.take("plan")) words.fail("a plan begins with `plan`", "such as `plan all_reduce my_ring`");
    const PlanMark at = words.here();
    const std::string kind = words.name("the collective");
    const CollectiveRow* row = collective_named(kind);
    if (!words.problem() && (row == nullptr || !row->planned || row->shape.uneven))
      words.fail(at, fmt::format("`{}` is not a collective that plans can describe", kind), "there are " + kinds());
    const int column = at.column;
    syntax_.name = words.name("of the plan");
    words.end();
    syntax_.header = words.since(column);
    if (!keep(words)) return;
    syntax_.kind = row->kind;
    ++at_;
  }

  // Where the value of a line of the header goes; null for a statement. Reads the first word.
  int* setting_of(WordReader& words) {
    if (words.take("chunks")) return holds("..") || holds("->") ? nullptr : &syntax_.chunks;
    if (words.take("scratch")) return words.next().text == "[" || holds("->") ? nullptr : &syntax_.scratch;
    return words.take("needs") ? &syntax_.needs : nullptr;
  }

  // A line of the header after its first.
  bool setting() {
    WordReader words = reader();
    int* const found = setting_of(words);
    if (found == nullptr) return false;
    int& into = *found;
    const bool scratch = found == &syntax_.scratch;
    const bool twice = into >= 0;
    if (!scratch) names_.erase("r");  // every rank counts the same chunks
    into = words.expression();
    names_["r"] = slot_r;
    if (twice)
      words.fail({lines_[at_].number, lines_[at_].indent + 1, 6}, "duplicate in the header",
                 "keep one");
    words.end();
    return keep(words);
  }
  // A line of the header below a statement is a problem.
  bool late_header(const std::string& first) {
    WordReader words = reader();
    if (first != "plan" && setting_of(words) == nullptr) return false;
    const PlanMark at{lines_[at_].number, lines_[at_].indent + 1, static_cast<int>(first.size())};
    problem_ = first == "plan" ? PlanProblem{at, "a second `plan`", "a file has one plan"}
                               : PlanProblem{at, fmt::format("`{}` below a statement", first),
                                             "it belongs to the header: move it above the first statement"};
    return true;
  }
  bool holds(std::string_view word) const {
    const auto& tokens = lines_[at_].tokens;
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& t) { return t.text == word; });
  }

  // Statements that begin in the column of `indent`.
  void block(Block& into, int indent, int depth, bool in_round) {
    if (depth > most_blocks) {
      problem_ =
          PlanProblem{{lines_[at_].number, indent + 1, 1}, "blocks are nested too deep", "the limit is 24"};
      return;
    }
    while (!problem_ && at_ < lines_.size() && lines_[at_].indent >= indent) {
      if (lines_[at_].indent > indent) {
        problem_ = PlanProblem{{lines_[at_].number, indent + 1, lines_[at_].indent - indent},
                               "this line is indented more than its block",
                               "align the statements of a block"};
        return;
      }
      statement(into, depth, in_round);
    }
  }

  void statement(Block& into, int depth, bool in_round) {
    WordReader words = reader();
    Statement one;
    const int column = lines_[at_].indent + 1;
    const std::string first(words.next().text);
    if (late_header(first)) return;
    const Names outside = names_;
    bool opens = false;
    if (words.take("let")) {
      let(one, words);
    } else if (words.take("for")) {
      loop(one, words);
      opens = true;
    } else if (words.take("if") || words.take("elif")) {
      one.action = Action::branch;
      one.follows = first == "elif";
      one.first = words.expression();
      opens = true;
    } else if (words.take("else")) {
      one.action = Action::branch;
      one.follows = true;
      opens = true;
    } else if (words.take("round")) {
      if (in_round)
        words.fail({lines_[at_].number, column, 5}, "a round inside a round", "the messages of a round are in flight "
                                                                              "together");
      one.action = Action::round;
      opens = true;
    } else {
      message(one, words);
    }
    if (one.follows &&
        (into.empty() || into.back().action != Action::branch || (into.back().follows && into.back().first < 0)))
      words.fail({lines_[at_].number, column, static_cast<int>(first.size())},
                 fmt::format("`{}` without an `if`", first),
                 "put it below the block of an `if`, in the same column");
    if (opens) words.expect(":", "a block begins with a colon at the end of its line");
    words.end();
    one.at = words.since(column);
    if (!keep(words)) return;
    const int line = lines_[at_].number, indent = lines_[at_].indent;
    ++at_;
    if (opens) {
      if (at_ >= lines_.size() || lines_[at_].indent <= indent) {
        problem_ = PlanProblem{{line, column, one.at.width}, "the block is empty", "indent the statements of the block"};
        return;
      }
      const bool round = in_round || one.action == Action::round;
      block(one.body, lines_[at_].indent, depth + 1, round);
      names_ = outside;
    }
    into.push_back(std::move(one));
  }

  int bind(const std::string& name, WordReader& words, const PlanMark& at) {
    if (names_.count(name) > 0 && names_.at(name) < 4)
      words.fail(at, fmt::format("`{}` already has a meaning", name), "p, r, n and root are predefined; use another "
                                                                      "name");
    names_[name] = syntax_.variables;
    return syntax_.variables++;
  }

  void let(Statement& one, WordReader& words) {
    one.action = Action::let;
    const PlanMark at = words.here();
    const std::string name = words.name("after `let`");
    words.expect("=", "such as `let q = p/2`");
    one.first = words.expression();
    one.variable = bind(name, words, at);
  }

  void loop(Statement& one, WordReader& words) {
    one.action = Action::loop;
    const PlanMark at = words.here();
    const std::string name = words.name("after `for`");
    words.expect("in", "such as `for k in 1..p-1:`");
    one.first = words.expression();
    words.expect("..", "such as `for k in 1..p-1:`, including the last");
    one.last = words.expression();
    if (words.take("by")) {
      one.advance = words.take("*") ? Advance::times : words.take("/") ? Advance::over : Advance::by;
      one.step = words.expression();
    }
    one.variable = bind(name, words, at);
  }

  void message(Statement& one, WordReader& words) {
    const PlanMark at = words.here();
    const std::string first(words.next().text);
    if (words.take("copy") || words.take("add")) {
      one.action = first == "copy" ? Action::copy : Action::add;
      one.slice = words.slice();
      words.expect("->", "such as `copy input -> all`");
      one.other = words.slice();
      return;
    }
    const bool receives = words.take("receive");
    one.action = receives ? Action::receive : words.take("send") ? Action::send : Action::move;
    if (one.action == Action::move && !begins_slice(first)) {
      constexpr std::array<std::string_view, 12> known{"let",  "for",     "if",    "else",   "round", "copy",
                                                       "send", "receive", "chunk", "chunks", "part",  "add"};
      const auto close = nearest(first, std::span<const std::string_view>(known));
      words.fail(at, fmt::format("`{}` does not begin a statement", first),
                 close ? fmt::format("did you mean `{}`?", *close)
                       : "write `chunk r-k -> r+1 +`, `for`, `if`, `round:` or `copy`");
      return;
    }
    one.slice = words.slice();
    words.expect(receives ? "<-" : "->", receives ? "such as `receive chunk r <- r-1 +`" : "such as `chunk r -> r+1`");
    one.peer = words.expression();
    one.other = one.slice;
    if (one.action == Action::move && words.take("into")) one.other = words.slice();
    if (one.action != Action::send) one.adds = words.take("+");
  }
  static bool begins_slice(std::string_view word) {
    constexpr std::array<std::string_view, 8> words{"all",  "nothing", "chunk",  "chunks",
                                                    "part", "input",   "output", "scratch"};
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  std::vector<Line> lines_;
  Names names_;
  Syntax syntax_;
  std::size_t at_ = 0;
  std::optional<PlanProblem> problem_;
};

}  // namespace
}  // namespace plan_syntax

std::variant<plan_syntax::Syntax, PlanProblem> parse_plan(std::string_view text) {
  auto lines = plan_syntax::lines_of(text);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&lines)) return *problem;
  return plan_syntax::Parser(std::move(std::get<std::vector<plan_syntax::Line>>(lines))).whole();
}

}  // namespace pdsim
