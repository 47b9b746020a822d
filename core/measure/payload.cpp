#include "core/measure/payload.h"

#include "core/base/random.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace pdsim {
namespace {

constexpr std::int64_t most_checked = 1 << 16;  // elements of one call on one rank

bool is_sum(ReduceOp op) { return op == ReduceOp::sum || op == ReduceOp::avg || op == ReduceOp::premul_sum; }
bool is_extreme(ReduceOp op) { return op == ReduceOp::min || op == ReduceOp::max; }

// A reduction's inputs are a permutation of parts 0 .. size - 1 at every index, so its result does not depend on who
// contributed which.
std::int64_t part_of(std::int64_t part, ReduceOp op, DType dtype) {
  if (dtype == DType::boolean) return part == 0 ? 1 : 0;
  if (is_sum(op)) return part < 8 ? 1 : 0;
  if (op == ReduceOp::product) return part < 5 ? 2 : 1;
  return is_extreme(op) ? part % 23 : part % 16;
}

std::int64_t combine(std::int64_t a, std::int64_t b, ReduceOp op, DType dtype) {
  const bool boolean = dtype == DType::boolean;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::premul_sum:
      return boolean ? (a | b) : a + b;
    case ReduceOp::product:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::band:
      return a & b;
    case ReduceOp::bor:
      return a | b;
    case ReduceOp::bxor:
      return a ^ b;
  }
  return 0;
}

// Tells elements of one tensor apart: a factor of sums, an addend of extremes.
std::int64_t with_index(std::int64_t value, std::int64_t index, ReduceOp op, DType dtype) {
  if (dtype == DType::boolean) return value;
  if (is_sum(op)) return value * (1 + index % 3);
  return is_extreme(op) ? value + index % 3 : value;
}

// The value that `rank` has at `index` of a tensor that is only moved.
std::int64_t moved(Rank rank, std::int64_t index, DType dtype) {
  const std::int64_t value = (rank * std::int64_t{31} + index) % 101;
  return dtype == DType::boolean ? value % 2 : value;
}

// Rounds a number to the dtype.
double held(double number, DType dtype) {
  std::byte rounded[8]{};
  write_element(rounded, dtype, number);
  return read_element(rounded, dtype);
}

// Over five binary orders of magnitude, of one sign per index, so that ulps of a sum mean something; factors of products stay
// near 1.
double uneven_number(std::int64_t part, std::int64_t index, ReduceOp op, DType dtype) {
  Random draw = Random(0x70617274).stream("rounding", static_cast<std::uint64_t>(part * 0x10001 + index));
  const double unit = draw.unit();
  const int exponent = static_cast<int>(draw.below(5)) - 2;
  double value = std::ldexp(0.5 + 0.5 * unit, exponent);
  if (op == ReduceOp::product)
    value = part < 8 ? 0.5 + 1.5 * unit : 1.0;
  else if (index % 2 == 1)
    value = -value;
  return held(value, dtype);
}

bool power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

// The number that an element of the output must be, and the error that is allowed.
struct Wanted {
  double value = 0.0;
  double tolerance = 0.0;
};

class Expected {
 public:
  explicit Expected(const Payload& p)
      : p_(p), reduces_(row(p.kind).reduces), whole_(!row(p.kind).prefix), layout_(p.layout()) {
    rounds_ = reduces_ && can_round(p.dtype, p.op) &&
              (p.values == Values::rounding || p.stated != nullptr || !power_of_two(factor_of_sums()));
    if (reduces_ && whole_) folded_ = fold(p.size - 1, 0);
  }

  Wanted at(std::int64_t index) const {
    const Origin from = layout_.origin(p_.rank, index);
    if (!reduces_) return {input_at(from.first, from.index), 0.0};
    if (rounds_) return rounded_at(from);
    if (p_.stated != nullptr) return {combined_at(from), 0.0};
    std::int64_t value = whole_ ? folded_ : fold(from.last, from.index);
    value = with_index(value, from.index, p_.op, p_.dtype);
    if (p_.op == ReduceOp::avg && !row(p_.dtype).floating) return {static_cast<double>(value / p_.size), 0.0};
    return {static_cast<double>(value) * factor_of_sums(), 0.0};
  }

 private:
  double input_at(Rank r, std::int64_t index) const {
    if (p_.stated == nullptr) return static_cast<double>(moved(r, index, p_.dtype));
    return held(p_.stated->at(static_cast<std::size_t>(r)).at(static_cast<std::size_t>(index)), p_.dtype);
  }

  // Extremes, and anything of integers.
  double combined_at(const Origin& from) const {
    double value = input_at(from.first, from.index);
    for (Rank r = from.first + 1; r <= from.last; ++r) {
      const double next = input_at(r, from.index);
      if (is_extreme(p_.op))
        value = p_.op == ReduceOp::min ? std::min(value, next) : std::max(value, next);
      else
        value = static_cast<double>(
            combine(static_cast<std::int64_t>(value), static_cast<std::int64_t>(next), p_.op, p_.dtype));
    }
    if (p_.op == ReduceOp::avg) value = static_cast<double>(static_cast<std::int64_t>(value) / p_.size);
    return value * (p_.op == ReduceOp::premul_sum ? p_.premul : 1.0);
  }

  double factor_of_sums() const {
    if (p_.op == ReduceOp::avg && row(p_.dtype).floating) return 1.0 / p_.size;
    return p_.op == ReduceOp::premul_sum ? p_.premul : 1.0;
  }

  // Ranks 0 .. last combined; a whole group's parts are the same at every index.
  std::int64_t fold(Rank last, std::int64_t index) const {
    std::int64_t value = part_of(index % p_.size, p_.op, p_.dtype);
    for (Rank r = 1; r <= last; ++r)
      value = combine(value, part_of((r + index) % p_.size, p_.op, p_.dtype), p_.op, p_.dtype);
    return value;
  }

  Wanted rounded_at(const Origin& from) const {
    const int terms = from.last + 1;
    const bool product = p_.op == ReduceOp::product;
    const double factor = factor_of_sums();
    double sum = product ? 1.0 : 0.0, lost = 0.0, magnitude = 0.0;
    for (Rank r = 0; r < terms; ++r) {
      const double x = contribution(r, from.index);
      if (product) {
        sum *= x;
        continue;
      }
      // Two-sum: what the addition loses is kept.
      const double next = sum + x * factor;
      const double back = next - sum;
      lost += (sum - (next - back)) + (x * factor - back);
      sum = next;
      magnitude += std::abs(x * factor);
    }
    const double value = sum + lost;
    const double m = (terms + 1) * (p_.dtype == DType::f64 ? 2.0 : 1.0);  // the reference rounds as well
    const double u = m * unit_roundoff(p_.dtype);
    const double bound = u < 1.0 ? u / (1.0 - u) : HUGE_VAL;
    return {value, bound * (product ? std::abs(value) : magnitude) + m * smallest_positive(p_.dtype)};
  }

  double contribution(Rank r, std::int64_t index) const {
    if (p_.stated != nullptr) return input_at(r, index);
    const std::int64_t part = (r + index) % p_.size;
    if (p_.values == Values::rounding) return uneven_number(part, index, p_.op, p_.dtype);
    return static_cast<double>(with_index(part_of(part, p_.op, p_.dtype), index, p_.op, p_.dtype));
  }

  const Payload& p_;
  bool reduces_;
  bool whole_;  // the inputs of all ranks are combined
  CollectiveLayout layout_;
  bool rounds_ = false;
  std::int64_t folded_ = 0;
};

}  // namespace

bool can_round(DType dtype, ReduceOp op) { return row(dtype).floating && (is_sum(op) || op == ReduceOp::product); }

CollectiveLayout Payload::layout() const {
  return {kind, size, count, root, counts.empty() ? std::vector<std::int64_t>{} : offsets_of(counts)};
}

std::int64_t Payload::input_count() const { return layout().input_elements(rank); }

std::int64_t Payload::output_count() const { return layout().output_elements(rank); }

std::int64_t Payload::own_count() const {
  if (counts.empty()) return count;
  return is_counted_by_output(kind) ? output_count() : input_count();
}

std::shared_ptr<const Splits> Payload::splits() const {
  if (counts.empty()) return nullptr;
  const CollectiveRow& r = row(kind);
  Splits splits;
  if (r.input_in_parts) splits.input = offsets_of(counts);
  if (r.output_in_parts && !r.input_in_parts) splits.output = offsets_of(counts);
  if (r.output_in_parts && r.input_in_parts)
    splits.output = offsets_of(std::vector<std::int64_t>(counts.size(), counts[static_cast<std::size_t>(rank)]));
  return std::make_shared<const Splits>(std::move(splits));
}

std::vector<std::byte> Payload::input() const {
  const std::int64_t elements = input_count();
  const std::size_t width = size_of(dtype);
  std::vector<std::byte> data(static_cast<std::size_t>(elements) * width);
  const bool reduces = row(kind).reduces;
  for (std::int64_t i = 0; i < elements; ++i) {
    double value = 0.0;
    if (stated != nullptr)
      value = stated->at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(i));
    else if (!reduces)
      value = static_cast<double>(moved(rank, i, dtype));
    else if (values == Values::rounding && can_round(dtype, op))
      value = uneven_number((rank + i) % size, i, op, dtype);
    else
      value = static_cast<double>(with_index(part_of((rank + i) % size, op, dtype), i, op, dtype));
    write_element(data.data() + static_cast<std::size_t>(i) * width, dtype, value);
  }
  return data;
}

PayloadCheck Payload::compare(std::span<const std::byte> output, std::int64_t stride) const {
  const std::int64_t elements = output_count();
  const std::size_t width = size_of(dtype);
  PayloadCheck result;
  if (elements == 0) return result;
  const Expected expected(*this);
  for (std::int64_t i = 0; i < elements; i += stride) {
    const std::byte* at = output.data() + static_cast<std::size_t>(i) * width;
    const double got = read_element(at, dtype);
    const Wanted wanted = expected.at(i);
    const double off = std::abs(got - wanted.value);
    if (off <= wanted.tolerance) {
      if (off != 0.0) result.max_ulp = std::max(result.max_ulp, ulps_between(got, wanted.value, dtype));
      continue;
    }
    ++result.wrong;
    if (result.first) continue;
    std::byte right[8]{};
    write_element(right, dtype, wanted.value);
    result.first = WrongElement{i, wanted.value, got, bits_of_element(right, dtype), bits_of_element(at, dtype)};
  }
  return result;
}

Status Payload::check(std::span<const std::byte> output) const {
  const std::int64_t elements = output_count();
  const PayloadCheck checked = compare(output, std::max<std::int64_t>(1, elements / most_checked));
  if (!checked.first) return {};
  const WrongElement& wrong = *checked.first;
  return Error{Code::wrong_data,
               fmt::format("{}: element {} of {} on rank {} is {}, and must be {}", name_of(kind), wrong.element,
                           elements, rank, wrong.got, wrong.expected),
               {{"rank", std::to_string(rank)},
                {"element", std::to_string(wrong.element)},
                {"expected", fmt::format("{}", wrong.expected)},
                {"got", fmt::format("{}", wrong.got)}}};
}

}  // namespace pdsim
