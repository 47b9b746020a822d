#include "tests/property/collective_case.h"

#include "core/collectives/reduce.h"
#include "core/measure/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace pdsim::property {
namespace {

constexpr std::array<std::string_view, 3> number_names{"exact", "rounding", "special"};
constexpr std::array<std::string_view, 4> libraries{"ideal", "gloo", "nccl", "mpi"};
constexpr int most_ranks = 9;

bool is_prefix(CollectiveKind kind) { return kind == CollectiveKind::scan || kind == CollectiveKind::exscan; }

bool op_exists(const CollectiveCase& c) {
  return supports(c.op, c.dtype) && !(is_prefix(c.kind) && c.op == ReduceOp::avg);
}

template <class Names>
std::optional<std::size_t> index_of(const Names& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// One word of the text after the first; false when it says nothing.
bool read_word(CollectiveCase& c, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    if (const auto dtype = dtype_named(word)) return c.dtype = *dtype, true;
    if (const auto op = reduce_op_named(word)) return c.op = *op, true;
    if (word == "in_place") return c.in_place = true;
    return false;
  }
  const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
  if (key == "on") return c.backend = value, true;
  if (key == "numbers") {
    const auto index = index_of(number_names, value);
    if (index) c.numbers = static_cast<Numbers>(*index);
    return index.has_value();
  }
  const auto n = number(value);
  if (!n) return false;
  if (key == "ranks") return c.ranks = static_cast<int>(*n), *n > 0;
  if (key == "nodes") return c.nodes = static_cast<int>(*n), *n > 0;
  if (key == "count") return c.count = *n, *n >= 0;
  if (key == "root") return c.root = static_cast<Rank>(*n), true;
  if (key == "data") return c.data = static_cast<std::uint64_t>(*n), true;
  if (key == "victim") return c.victim = static_cast<Rank>(*n), *n >= 0;
  if (key == "moment") return c.moment = static_cast<int>(*n), *n >= -1;
  if (key == "schedule") return c.schedule = static_cast<std::uint64_t>(*n), true;
  return false;
}

}  // namespace

std::vector<std::int64_t> parts_of(const CollectiveCase& c) {
  std::vector<std::int64_t> parts;
  if (!row(c.kind).shape.uneven) return parts;
  for (int r = 0; r < c.ranks; ++r)
    parts.push_back((c.count + r * static_cast<std::int64_t>(1 + c.data % 3)) % (c.count + 2));
  return parts;
}

CollectiveCase valid(CollectiveCase c) {
  if (c.ranks % c.nodes != 0) c.nodes = 1;
  c.root = row(c.kind).rooted ? c.root % c.ranks : 0;
  if (c.victim >= c.ranks) c.victim = c.ranks - 1;
  if (c.kind == CollectiveKind::barrier) c.count = 0;
  if (!row(c.kind).reduces || !op_exists(c)) c.op = ReduceOp::sum;
  if (!op_exists(c)) c.dtype = DType::i32;
  if (!row(c.kind).reduces || !row(c.dtype).floating) c.numbers = Numbers::exact;
  if (!has_in_place(c.kind)) c.in_place = false;
  return c;
}

CollectiveCase draw_case(const Algorithm& algorithm, std::uint64_t seed) {
  Random draw = Random(seed).stream(algorithm.name, static_cast<std::uint64_t>(algorithm.kind));
  CollectiveCase c;
  c.kind = algorithm.kind;
  c.algorithm = algorithm.name;
  c.ranks = 1 + static_cast<int>(draw.below(most_ranks));
  c.nodes = 1 + static_cast<int>(draw.below(3));
  const std::array<std::int64_t, 8> counts{0, 1, c.ranks - 1, c.ranks, c.ranks + 1, 3, 16, 37};
  c.count = counts[draw.below(counts.size())];
  c.dtype = static_cast<DType>(draw.below(dtypes.size()));
  c.op = static_cast<ReduceOp>(draw.below(reduce_op_names.size()));
  c.root = static_cast<Rank>(draw.below(static_cast<std::uint64_t>(c.ranks)));
  c.numbers = static_cast<Numbers>(draw.below(number_names.size()));
  c.in_place = draw.below(2) == 1;
  c.data = draw.below(1000);
  c.schedule = draw.below(4) == 0 ? 0 : 1 + draw.below(1'000'000);
  c.backend = libraries[draw.below(3) == 0 ? draw.below(libraries.size()) : 0];
  return valid(c);
}

std::vector<CollectiveCase> simpler(const CollectiveCase& c) {
  std::vector<CollectiveCase> list;
  const auto add = [&](auto change) {
    CollectiveCase next = c;
    change(next);
    next = valid(next);
    if (!(next == c)) list.push_back(next);
  };
  for (int ranks = 1; ranks < c.ranks; ++ranks) add([=](CollectiveCase& n) { n.ranks = ranks; });
  for (std::int64_t count = 0; count < std::min<std::int64_t>(c.count, 4); ++count)
    add([=](CollectiveCase& n) { n.count = count; });
  if (c.count > 4) add([](CollectiveCase& n) { n.count /= 2; });
  if (c.count > 4) add([](CollectiveCase& n) { n.count -= 1; });
  if (c.schedule != 0) add([](CollectiveCase& n) { n.schedule = 0; });
  if (c.nodes != 1) add([](CollectiveCase& n) { n.nodes = 1; });
  if (c.root != 0) add([](CollectiveCase& n) { n.root = 0; });
  if (c.in_place) add([](CollectiveCase& n) { n.in_place = false; });
  if (c.numbers != Numbers::exact) add([](CollectiveCase& n) { n.numbers = Numbers::exact; });
  if (c.dtype != DType::i32) add([](CollectiveCase& n) { n.dtype = DType::i32; });
  if (c.op != ReduceOp::sum) add([](CollectiveCase& n) { n.op = ReduceOp::sum; });
  if (c.victim > 0) add([](CollectiveCase& n) { n.victim = 0; });
  if (c.moment > 0) add([](CollectiveCase& n) { n.moment = 0; });
  if (c.backend != "ideal") add([](CollectiveCase& n) { n.backend = "ideal"; });
  if (c.data != 0) add([](CollectiveCase& n) { n.data = 0; });
  return list;
}

std::string to_text(const CollectiveCase& c) {
  const std::string killed = c.victim == no_rank ? "" : fmt::format(" victim={} moment={}", c.victim, c.moment);
  return fmt::format("{}/{} ranks={} nodes={} count={} {} {} root={} numbers={}{} data={} schedule={} on={}{}",
                     name_of(c.kind), c.own == nullptr ? c.algorithm : std::string(c.own->name), c.ranks, c.nodes,
                     c.count, name_of(c.dtype), name_of(c.op), c.root,
                     number_names[static_cast<std::size_t>(c.numbers)], c.in_place ? " in_place" : "", c.data,
                     c.schedule, c.backend, killed);
}

std::optional<CollectiveCase> case_of(std::string_view text) {
  CollectiveCase c;
  const std::size_t slash = text.find('/'), space = text.find(' ');
  if (slash == std::string_view::npos || space == std::string_view::npos || slash > space) return std::nullopt;
  const auto kind = std::find_if(collective_table.begin(), collective_table.end(),
                                 [&](const CollectiveRow& r) { return r.name == text.substr(0, slash); });
  if (kind == collective_table.end()) return std::nullopt;
  c.kind = kind->kind;
  c.algorithm = text.substr(slash + 1, space - slash - 1);
  text.remove_prefix(space);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0 && !read_word(c, text.substr(0, end))) return std::nullopt;
    text.remove_prefix(end);
  }
  return valid(c);
}

}  // namespace pdsim::property
