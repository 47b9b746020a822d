#include "core/collectives/reduce.h"

#include "core/base/check.h"
#include "core/collectives/arithmetic.h"
#include "core/collectives/kernels.h"

#include <type_traits>

namespace pdsim {
namespace {

template <class T>
void combine(MutableView inout, ConstView in, ReduceOp op, Processor processor) {
  auto* a = reinterpret_cast<T*>(inout.data);
  const auto* b = reinterpret_cast<const T*>(in.data);
  with_operation<T>(op, [=, n = inout.count](auto f) { for_each_pair(processor, a, b, n, f); });
}

// Half precision knows four operations; avg and premul_sum are sums.
void combine_half(MutableView inout, ConstView in, ReduceOp op, Processor processor) {
  auto* a = reinterpret_cast<std::uint16_t*>(inout.data);
  const auto* b = reinterpret_cast<const std::uint16_t*>(in.data);
  const bool other = op == ReduceOp::product || op == ReduceOp::min || op == ReduceOp::max;
  const auto combine = inout.dtype == DType::f16 ? combine_f16 : combine_bf16;
  combine(processor, a, b, inout.count, other ? op : ReduceOp::sum);
}

void combine_bool(MutableView inout, ConstView in, ReduceOp op) {
  auto* a = reinterpret_cast<std::uint8_t*>(inout.data);
  const auto* b = reinterpret_cast<const std::uint8_t*>(in.data);
  with_operation<bool>(op, [=, n = inout.count](auto f) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = BoolElement::store(f(BoolElement::load(a[i]), BoolElement::load(b[i])));
  });
}

template <class T>
void scale_as(MutableView to, ConstView from, double factor) {
  auto* a = reinterpret_cast<T*>(to.data);
  const auto* b = reinterpret_cast<const T*>(from.data);
  for (std::int64_t i = 0; i < to.count; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      a[i] = b[i] * static_cast<float>(factor);
    } else {
      a[i] = static_cast<T>(static_cast<double>(b[i]) * factor);
    }
  }
}

void scale_half(MutableView to, ConstView from, double factor) {
  auto* a = reinterpret_cast<std::uint16_t*>(to.data);
  const auto* b = reinterpret_cast<const std::uint16_t*>(from.data);
  const auto scale = to.dtype == DType::f16 ? scale_f16 : scale_bf16;
  scale(this_processor(), a, b, to.count, static_cast<float>(factor));
}

template <class T>
void divide_as(MutableView data, std::int64_t divisor) {
  auto* a = reinterpret_cast<T*>(data.data);
  for (std::int64_t i = 0; i < data.count; ++i) a[i] = static_cast<T>(static_cast<std::int64_t>(a[i]) / divisor);
}

}  // namespace

bool supports(ReduceOp op, DType dtype) {
  const bool bitwise = op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
  if (bitwise) return !row(dtype).floating;
  if (op == ReduceOp::premul_sum) return row(dtype).floating;
  return op != ReduceOp::avg || dtype != DType::boolean;
}

void reduce(MutableView inout, ConstView in, ReduceOp op) {
  reduce(inout, in, op, inout.data == nullptr ? Processor::any : this_processor());
}

void reduce(MutableView inout, ConstView in, ReduceOp op, Processor processor) {
  PDSIM_CHECK(inout.count == in.count && inout.dtype == in.dtype, "a reduction of unlike views");
  if (inout.data == nullptr || in.data == nullptr) return;
  switch (inout.dtype) {
    case DType::f16:
    case DType::bf16:
      return combine_half(inout, in, op, processor);
    case DType::f32:
      return combine<float>(inout, in, op, processor);
    case DType::f64:
      return combine<double>(inout, in, op, processor);
    case DType::i8:
      return combine<std::int8_t>(inout, in, op, processor);
    case DType::u8:
      return combine<std::uint8_t>(inout, in, op, processor);
    case DType::i32:
      return combine<std::int32_t>(inout, in, op, processor);
    case DType::i64:
      return combine<std::int64_t>(inout, in, op, processor);
    case DType::boolean:
      return combine_bool(inout, in, op);
  }
}

void scale(MutableView to, ConstView from, double factor) {
  if (to.data == nullptr || from.data == nullptr) return;
  switch (to.dtype) {
    case DType::f16:
    case DType::bf16:
      return scale_half(to, from, factor);
    case DType::f32:
      return scale_as<float>(to, from, factor);
    case DType::f64:
      return scale_as<double>(to, from, factor);
    case DType::i8:
      return scale_as<std::int8_t>(to, from, factor);
    case DType::u8:
      return scale_as<std::uint8_t>(to, from, factor);
    case DType::i32:
      return scale_as<std::int32_t>(to, from, factor);
    case DType::i64:
      return scale_as<std::int64_t>(to, from, factor);
    case DType::boolean:
      return;
  }
}

void divide(MutableView data, std::int64_t divisor) {
  if (data.data == nullptr) return;
  switch (data.dtype) {
    case DType::i8:
      return divide_as<std::int8_t>(data, divisor);
    case DType::u8:
      return divide_as<std::uint8_t>(data, divisor);
    case DType::i32:
      return divide_as<std::int32_t>(data, divisor);
    case DType::i64:
      return divide_as<std::int64_t>(data, divisor);
    default:
      PDSIM_CHECK(false, "only integers are divided");
  }
}

}  // namespace pdsim
