// The syntax tree of a plan's text: the result of parse_plan(), with the place of each part.
//
//   form     docs/plans.md: a header, then statements in blocks by indentation; one statement a line, `#` begins a comment
//   numbers  whole, 64 bits; names are p, r, n, root, and those bound by `for` and `let`
//   limits   64 KiB of text, 2,000 lines, 24 nested blocks or parentheses
#pragma once

#include "core/collectives/collective_kind.h"
#include "core/collectives/plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pdsim {

struct PlanMark {
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
  int width = 1;   // of the caret
};

struct PlanProblem {
  PlanMark at;
  std::string what;
  std::string label;  // beside the caret: the correct form
};

namespace plan_syntax {

enum class Operator : std::uint8_t {
  number,
  variable,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  equal,
  unequal,
  less,
  at_most,
  more,
  at_least,
  both,
  either,
  negate,
  invert,
  log2,
  ceil_log2,
  least,
  most,
};

// An expression, in evaluation order; operands are indices into Syntax::terms.
struct Term {
  Operator what = Operator::number;
  std::int64_t number = 0;  // or the slot of a variable
  int left = -1, right = -1;
  PlanMark at{};
};

enum class Piece : std::uint8_t { whole, nothing, chunk, chunks, part, elements };

struct SliceText {
  std::optional<BufferId> buffer{};  // none: the buffer that the collective's parts or chunks divide
  Piece piece = Piece::whole;
  int first = -1, last = -1;  // terms: the chunk or part, or the first and the last (chunks) or the end (elements)
  int of = -1;                // term: in how many chunks; -1: as the header says
  PlanMark at{};
};

enum class Action : std::uint8_t { let, loop, branch, round, move, send, receive, copy, add };
enum class Advance : std::uint8_t { by, times, over };  // how a loop's variable advances by its step

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  Action action = Action::round;
  PlanMark at{};
  int variable = -1;          // let, loop: its slot
  int first = -1, last = -1;  // let: the value; loop: from, to; branch: the condition, -1 for `else`
  int step = -1;              // loop; -1: 1
  Advance advance = Advance::by;
  SliceText slice{}, other{};  // copy and add: from, to. move: the data sent, its destination
  int peer = -1;               // send, receive, move
  bool adds = false;
  bool follows = false;  // branch: `elif` or `else` of the one before it
  Block body{};
};

struct Syntax {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string name;
  int chunks = -1, scratch = -1, needs = -1;  // terms; -1: p chunks, no scratch, any number of ranks
  PlanMark header{};
  std::vector<Term> terms;
  int variables = 4;  // slots; the first four are p, r, n and root
  Block body;
};

constexpr int slot_p = 0, slot_r = 1, slot_n = 2, slot_root = 3;

}  // namespace plan_syntax

// Returns the syntax of the text, or its first problem.
std::variant<plan_syntax::Syntax, PlanProblem> parse_plan(std::string_view text);

}  // namespace pdsim
