#include "scenarios/engine/operations/payload.h"

#include "core/base/result.h"
#include "core/collectives/half.h"
#include "core/collectives/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pdsim::scenarios::operations {
namespace {

constexpr std::int64_t most_checked = 1 << 16;  // elements of one call on one rank

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void write_element(std::byte* at, DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::f16:
      return store(at, to_f16(static_cast<float>(value)));
    case DType::bf16:
      return store(at, to_bf16(static_cast<float>(value)));
    case DType::f32:
      return store(at, static_cast<float>(value));
    case DType::f64:
      return store(at, static_cast<double>(value));
    case DType::i32:
      return store(at, static_cast<std::int32_t>(value));
    case DType::i64:
      return store(at, value);
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return store(at, static_cast<std::uint8_t>(value));
  }
}

double read_element(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return static_cast<double>(from_f16(load<std::uint16_t>(at)));
    case DType::bf16:
      return static_cast<double>(from_bf16(load<std::uint16_t>(at)));
    case DType::f32:
      return static_cast<double>(load<float>(at));
    case DType::f64:
      return load<double>(at);
    case DType::i32:
      return load<std::int32_t>(at);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(at));
    case DType::i8:
      return load<std::int8_t>(at);
    case DType::u8:
    case DType::boolean:
      return load<std::uint8_t>(at);
  }
  return NAN;
}

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

// What `rank` has at `index` of a tensor that is only moved.
std::int64_t moved(Rank rank, std::int64_t index, DType dtype) {
  const std::int64_t value = (rank * std::int64_t{31} + index) % 101;
  return dtype == DType::boolean ? value % 2 : value;
}

Collective call_of(const Payload& p) {
  Collective call;
  call.kind = p.kind;
  call.dtype = p.dtype;
  call.count = p.count;
  call.op = p.op;
  call.root = p.root;
  return call;
}

// The value that must stand at `index` of the output, where no reduction is involved.
std::int64_t expected_moved(const Payload& p, std::int64_t index) {
  switch (p.kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::recv:
      return moved(p.root, index, p.dtype);
    case CollectiveKind::scatter:
      return moved(p.root, p.rank * p.count + index, p.dtype);
    case CollectiveKind::all_to_all:
      return moved(static_cast<Rank>(index / p.count), p.rank * p.count + index % p.count, p.dtype);
    default:  // all_gather, gather
      return moved(static_cast<Rank>(index / p.count), index % p.count, p.dtype);
  }
}

class Expected {
 public:
  explicit Expected(const Payload& p) : p_(p), reduces_(row(p.kind).reduces) {
    if (!reduces_) return;
    folded_ = part_of(0, p.op, p.dtype);
    for (int part = 1; part < p.size; ++part) folded_ = combine(folded_, part_of(part, p.op, p.dtype), p.op, p.dtype);
  }

  double at(std::int64_t index) const {
    if (!reduces_) return static_cast<double>(expected_moved(p_, index));
    const std::int64_t offset = p_.kind == CollectiveKind::reduce_scatter ? p_.rank * p_.count : 0;
    const auto value = static_cast<double>(with_index(folded_, offset + index, p_.op, p_.dtype));
    return p_.op == ReduceOp::avg ? value / p_.size : value;
  }

  // Averages divide before they add: floats round each part, integers truncate it.
  double tolerance(double expected) const {
    if (!reduces_ || p_.op != ReduceOp::avg) return 0.0;
    if (!row(p_.dtype).floating) return p_.size;
    const double epsilon = p_.dtype == DType::bf16 ? 0x1p-7 : p_.dtype == DType::f16 ? 0x1p-10 : 0x1p-22;
    return epsilon * (p_.size + 1) * std::max(1.0, expected);
  }

 private:
  const Payload& p_;
  bool reduces_;
  std::int64_t folded_ = 0;
};

}  // namespace

std::int64_t Payload::input_count() const { return input_elements(call_of(*this), rank, size); }
std::int64_t Payload::output_count() const { return output_elements(call_of(*this), rank, size); }

std::vector<std::byte> Payload::input() const {
  const std::int64_t elements = input_count();
  const std::size_t width = size_of(dtype);
  std::vector<std::byte> data(static_cast<std::size_t>(elements) * width);
  const bool reduces = row(kind).reduces;
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t value =
        reduces ? with_index(part_of((rank + i) % size, op, dtype), i, op, dtype) : moved(rank, i, dtype);
    write_element(data.data() + static_cast<std::size_t>(i) * width, dtype, value);
  }
  return data;
}

Status Payload::check(const std::vector<std::byte>& output) const {
  const std::int64_t elements = output_count();
  const Expected expected(*this);
  const std::int64_t stride = std::max<std::int64_t>(1, elements / most_checked);
  for (std::int64_t i = 0; i < elements; i += stride) {
    const double got = read_element(output.data() + static_cast<std::size_t>(i) * size_of(dtype), dtype);
    const double wanted = expected.at(i);
    if (std::abs(got - wanted) <= expected.tolerance(wanted)) continue;
    return Error{Code::wrong_data,
                 fmt::format("{}: element {} of {} on rank {} is {}, and must be {}", name_of(kind), i, elements, rank,
                             got, wanted),
                 {{"rank", std::to_string(rank)},
                  {"element", std::to_string(i)},
                  {"expected", fmt::format("{}", wanted)},
                  {"got", fmt::format("{}", got)}}};
  }
  return {};
}

}  // namespace pdsim::scenarios::operations
