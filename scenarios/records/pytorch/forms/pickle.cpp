#include "scenarios/records/pytorch/forms/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

// The argument of a pickle opcode, as bytes that follow it (length_1, _4 and _8: the number in the next 1, 4 or 8 bytes
// says how many).
enum class Argument : std::uint8_t { none, one, two, four, eight, length_1, length_4, length_8 };
enum class Does : std::uint8_t {
  protocol,
  frame,
  stop,
  mark,
  pop,
  pop_mark,
  duplicate,
  none,
  yes,
  no,
  unsigned_integer,
  signed_integer,
  long_integer,
  real,
  text,
  empty_list,
  empty_dict,
  list,
  dict,
  tuple,
  tuple_1,
  tuple_2,
  tuple_3,
  append,
  appends,
  set_item,
  set_items,
  put,
  memoize,
  get,
  executes,
  unknown
};
struct Opcode {
  unsigned char byte;
  std::string_view name;  // as Python's pickletools calls it
  Argument argument;
  Does does;
};

// clang-format off
constexpr std::array opcodes{
    Opcode{0x80, "PROTO", Argument::one, Does::protocol},
    Opcode{0x95, "FRAME", Argument::eight, Does::frame},
    Opcode{'.', "STOP", Argument::none, Does::stop},
    Opcode{'(', "MARK", Argument::none, Does::mark},
    Opcode{'0', "POP", Argument::none, Does::pop},
    Opcode{'1', "POP_MARK", Argument::none, Does::pop_mark},
    Opcode{'2', "DUP", Argument::none, Does::duplicate},
    Opcode{'N', "NONE", Argument::none, Does::none},
    Opcode{0x88, "NEWTRUE", Argument::none, Does::yes},
    Opcode{0x89, "NEWFALSE", Argument::none, Does::no},
    Opcode{'K', "BININT1", Argument::one, Does::unsigned_integer},
    Opcode{'M', "BININT2", Argument::two, Does::unsigned_integer},
    Opcode{'J', "BININT", Argument::four, Does::signed_integer},
    Opcode{0x8a, "LONG1", Argument::length_1, Does::long_integer},
    Opcode{0x8b, "LONG4", Argument::length_4, Does::long_integer},
    Opcode{'G', "BINFLOAT", Argument::eight, Does::real},
    Opcode{'X', "BINUNICODE", Argument::length_4, Does::text},
    Opcode{0x8c, "SHORT_BINUNICODE", Argument::length_1, Does::text},
    Opcode{0x8d, "BINUNICODE8", Argument::length_8, Does::text},
    Opcode{'B', "BINBYTES", Argument::length_4, Does::text},
    Opcode{'C', "SHORT_BINBYTES", Argument::length_1, Does::text},
    Opcode{0x8e, "BINBYTES8", Argument::length_8, Does::text},
    Opcode{0x96, "BYTEARRAY8", Argument::length_8, Does::text},
    Opcode{'T', "BINSTRING", Argument::length_4, Does::text},
    Opcode{'U', "SHORT_BINSTRING", Argument::length_1, Does::text},
    Opcode{']', "EMPTY_LIST", Argument::none, Does::empty_list},
    Opcode{')', "EMPTY_TUPLE", Argument::none, Does::empty_list},
    Opcode{'}', "EMPTY_DICT", Argument::none, Does::empty_dict},
    Opcode{'l', "LIST", Argument::none, Does::list},
    Opcode{'d', "DICT", Argument::none, Does::dict},
    Opcode{'t', "TUPLE", Argument::none, Does::tuple},
    Opcode{0x85, "TUPLE1", Argument::none, Does::tuple_1},
    Opcode{0x86, "TUPLE2", Argument::none, Does::tuple_2},
    Opcode{0x87, "TUPLE3", Argument::none, Does::tuple_3},
    Opcode{'a', "APPEND", Argument::none, Does::append},
    Opcode{'e', "APPENDS", Argument::none, Does::appends},
    Opcode{'s', "SETITEM", Argument::none, Does::set_item},
    Opcode{'u', "SETITEMS", Argument::none, Does::set_items},
    Opcode{'q', "BINPUT", Argument::one, Does::put},
    Opcode{'r', "LONG_BINPUT", Argument::four, Does::put},
    Opcode{0x94, "MEMOIZE", Argument::none, Does::memoize},
    Opcode{'h', "BINGET", Argument::one, Does::get},
    Opcode{'j', "LONG_BINGET", Argument::four, Does::get},
    Opcode{'c', "GLOBAL", Argument::none, Does::executes},
    Opcode{0x93, "STACK_GLOBAL", Argument::none, Does::executes},
    Opcode{'R', "REDUCE", Argument::none, Does::executes},
    Opcode{'b', "BUILD", Argument::none, Does::executes},
    Opcode{'i', "INST", Argument::none, Does::executes},
    Opcode{'o', "OBJ", Argument::none, Does::executes},
    Opcode{0x81, "NEWOBJ", Argument::none, Does::executes},
    Opcode{0x92, "NEWOBJ_EX", Argument::none, Does::executes},
    Opcode{0x82, "EXT1", Argument::none, Does::executes},
    Opcode{0x83, "EXT2", Argument::none, Does::executes},
    Opcode{0x84, "EXT4", Argument::none, Does::executes},
    Opcode{'P', "PERSID", Argument::none, Does::executes},
    Opcode{'Q', "BINPERSID", Argument::none, Does::executes},
};
// clang-format on

constexpr Opcode opcode_of(unsigned char byte) {
  for (const Opcode& row : opcodes)
    if (row.byte == byte) return row;
  return {byte, "", Argument::none, Does::unknown};
}

constexpr std::array<Opcode, 256> table = [] {
  std::array<Opcode, 256> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = opcode_of(static_cast<unsigned char>(i));
  return rows;
}();

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Two's complement, little endian, of any length.
Node long_node(std::string_view bytes) {
  if (bytes.size() <= 8) {
    std::uint64_t value = little_endian(bytes);
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
    if (negative && bytes.size() < 8) value |= ~std::uint64_t{0} << (8 * bytes.size());
    return static_cast<std::int64_t>(value);
  }
  double value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value * 256 + static_cast<unsigned char>(bytes[i]);
  const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  return negative ? value - std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(bytes.size(), 1000)) * 8) : value;
}

Node real_node(std::string_view bytes) {  // big endian
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = (bits << 8) | static_cast<unsigned char>(byte);
  return std::bit_cast<double>(bits);
}

constexpr NodeId nothing = ~NodeId{0};
constexpr std::size_t bytes_a_node = 8;  // about, in PyTorch's own dumps

class Reader {
 public:
  Reader(std::string text, std::size_t most_nodes) : most_nodes_(most_nodes) {
    tree_.source = std::make_unique<const std::string>(std::move(text));
    text_ = *tree_.source;
    tree_.nodes.reserve(text_.size() / bytes_a_node);
    tree_.items.reserve(text_.size() / bytes_a_node);
  }

  Result<Tree> read() {
    while (at_ < text_.size()) {
      opcode_at_ = at_;
      const Opcode& row = table[static_cast<unsigned char>(text_[at_++])];
      std::string_view argument;
      PDSIM_TRY(take(row, argument));
      if (row.does == Does::stop) return finish();
      PDSIM_TRY(obey(row, argument));
      if (tree_.nodes.size() > most_nodes_)
        return problem(fmt::format("the pickle holds more than {} values", most_nodes_));
      if (tree_.items.size() > Tree::most_items)
        return problem(fmt::format("the pickle's lists hold more than {} values", Tree::most_items));
    }
    opcode_at_ = text_.size();
    return problem("the pickle ends before its STOP");
  }

 private:
  Error problem(const std::string& what) const {
    return {Code::input_invalid, fmt::format("{} (at byte {})", what, opcode_at_), {}};
  }

  // The bytes that follow the opcode; those that only say a length are left out.
  Status take(const Opcode& row, std::string_view& argument) {
    constexpr std::array<std::size_t, 8> fixed{0, 1, 2, 4, 8, 1, 4, 8};
    const auto cut = [this](std::uint64_t size, std::string_view& bytes) {
      if (size > text_.size() - at_) return false;
      bytes = text_.substr(at_, static_cast<std::size_t>(size));
      at_ += static_cast<std::size_t>(size);
      return true;
    };
    bool there = cut(fixed[static_cast<std::size_t>(row.argument)], argument);
    if (there && row.argument >= Argument::length_1) there = cut(little_endian(argument), argument);
    if (there) return {};
    return problem(fmt::format("the pickle ends inside the argument of {}", row.name));
  }

  Result<Tree> finish() {
    if (stack_.size() != 1 || !marks_.empty())
      return problem(fmt::format("the pickle ends with {} values on its stack instead of 1", stack_.size()));
    tree_.root = stack_.back();
    return std::move(tree_);
  }

  void push(Node node) {
    stack_.push_back(static_cast<NodeId>(tree_.nodes.size()));
    tree_.nodes.push_back(std::move(node));
  }
  Status obey(const Opcode& row, std::string_view argument);
  Status change_stack(const Opcode& row);
  Status build(const Opcode& row);
  Status remember(const Opcode& row, std::string_view argument);
  Status add(const Opcode& row, std::size_t from, bool pairs);
  Status make(const Opcode& row, std::size_t from);
  void take_from(std::size_t from, Items& into);
  // Where the values above the newest mark, or above the last `count`, begin; none when the stack is too short.
  std::optional<std::size_t> above_mark();
  std::optional<std::size_t> above(std::size_t count) const;

  std::string_view text_;
  std::size_t most_nodes_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  Tree tree_;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<NodeId> memo_;  // most of them in order from 0
};


std::optional<std::size_t> Reader::above(std::size_t count) const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor < count) return std::nullopt;
  return stack_.size() - count;
}

std::optional<std::size_t> Reader::above_mark() {
  if (marks_.empty()) return std::nullopt;
  const std::size_t from = marks_.back();
  marks_.pop_back();
  return from;
}

Status Reader::obey(const Opcode& row, std::string_view argument) {
  switch (row.does) {
    case Does::protocol:
      if (argument[0] >= 2 && argument[0] <= 5) return {};
      return problem(
          fmt::format("the pickle is of protocol {}; 2 to 5 are read", static_cast<unsigned char>(argument[0])));
    case Does::frame:
      return {};
    case Does::none:
      return push({}), Status{};
    case Does::yes:
      return push(true), Status{};
    case Does::no:
      return push(false), Status{};
    case Does::unsigned_integer:
      return push(static_cast<std::int64_t>(little_endian(argument))), Status{};
    case Does::signed_integer:
    case Does::long_integer:
      return push(long_node(argument)), Status{};
    case Does::real:
      return push(real_node(argument)), Status{};
    case Does::text:
      return push(argument), Status{};
    case Does::empty_list:
      return push(List{}), Status{};
    case Does::empty_dict:
      return push(Dict{}), Status{};
    case Does::put:
    case Does::memoize:
    case Does::get:
      return remember(row, argument);
    case Does::executes:
      return problem(
          fmt::format("the pickle asks for {}, which names or calls code; a dump of plain data needs none, and "
                      "nothing was executed",
                      row.name));
    case Does::unknown:
      return problem(
          fmt::format("byte 0x{:02x} is not an opcode of a pickle of protocol 2 to 5 with plain data", row.byte));
    case Does::mark:
    case Does::pop:
    case Does::pop_mark:
    case Does::duplicate:
      return change_stack(row);
    default:
      return build(row);
  }
}

Status Reader::change_stack(const Opcode& row) {
  const auto short_stack = [&] { return problem(fmt::format("{} finds nothing on the stack", row.name)); };
  if (row.does == Does::mark) {
    marks_.push_back(stack_.size());
    return {};
  }
  if (row.does == Does::pop_mark) {
    const auto from = above_mark();
    if (!from) return short_stack();
    stack_.resize(*from);
    return {};
  }
  if (!above(1)) return short_stack();
  if (row.does == Does::duplicate) {
    const NodeId top = stack_.back();
    stack_.push_back(top);
  } else {
    stack_.pop_back();
  }
  return {};
}

Status Reader::build(const Opcode& row) {
  const auto from = [&]() -> std::optional<std::size_t> {
    switch (row.does) {
      case Does::tuple_1:
        return above(1);
      case Does::tuple_2:
        return above(2);
      case Does::tuple_3:
        return above(3);
      case Does::append:
        return above(1);
      case Does::set_item:
        return above(2);
      default:
        return above_mark();
    }
  }();
  if (!from) return problem(fmt::format("{} finds too few values on the stack", row.name));
  switch (row.does) {
    case Does::append:
    case Does::appends:
      return add(row, *from, false);
    case Does::set_item:
    case Does::set_items:
      return add(row, *from, true);
    default:
      return make(row, *from);
  }
}

void Reader::take_from(std::size_t from, Items& into) {
  tree_.append(into, std::span(stack_).subspan(from));
  stack_.resize(from);
}

// A new list or dictionary of the values from `from` on.
Status Reader::make(const Opcode& row, std::size_t from) {
  if (row.does != Does::dict) {
    List list;
    take_from(from, list);
    return push(list), Status{};
  }
  if ((stack_.size() - from) % 2 != 0) return problem("DICT finds a key without a value");
  Dict dict;
  take_from(from, dict);
  return push(dict), Status{};
}

// The values from `from` on go into the list or dictionary below them.
Status Reader::add(const Opcode& row, std::size_t from, bool pairs) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (from <= floor) return problem(fmt::format("{} finds too few values on the stack", row.name));
  Node& target = tree_.nodes[stack_[from - 1]];
  Items* items = pairs ? static_cast<Items*>(std::get_if<Dict>(&target)) : std::get_if<List>(&target);
  if (items == nullptr)
    return problem(fmt::format("{} finds {} to add to", row.name, pairs ? "no dictionary" : "no list"));
  if (pairs && (stack_.size() - from) % 2 != 0) return problem(fmt::format("{} finds a key without a value", row.name));
  take_from(from, *items);
  return {};
}

Status Reader::remember(const Opcode& row, std::string_view argument) {
  const std::size_t index =
      row.does == Does::memoize ? memo_.size() : static_cast<std::size_t>(little_endian(argument));
  if (row.does == Does::get) {
    if (index >= memo_.size() || memo_[index] == nothing)
      return problem(fmt::format("{} asks for memo {}, which was never stored", row.name, index));
    stack_.push_back(memo_[index]);
    return {};
  }
  if (stack_.empty()) return problem(fmt::format("{} finds nothing on the stack", row.name));
  if (index > text_.size()) return problem(fmt::format("memo {} is beyond what the pickle can hold", index));
  if (index >= memo_.size()) memo_.resize(index + 1, nothing);
  memo_[index] = stack_.back();
  return {};
}

}  // namespace

bool looks_like_pickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

Result<Tree> read_pickle(std::string text, std::size_t most_nodes) {
  if (text.size() > most_pickle_bytes)
    return Error{Code::input_invalid, fmt::format("a pickle of {} bytes is larger than 256MiB", text.size()), {}};
  if (!looks_like_pickle(text))
    return Error{Code::input_invalid, "it does not begin as a pickle of protocol 2 to 5 (at byte 0)", {}};
  return Reader(std::move(text), most_nodes).read();
}

}  // namespace pdsim::scenarios::pytorch
