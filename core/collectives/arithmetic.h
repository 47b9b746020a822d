// The reduce operations on two elements, defined once for the loops on this machine's processor (reduce.h, kernels.h) and on
// devices (backends/nccl/device/device_kernels.h), so that their bits are the same.
//
//   bool     sum and max are `or`, product and min are `and`
//   integers wrap
//   min/max  a NaN on either side wins; of equal zeros the left stays
//   halves   are combined as f32 and rounded (half.h); avg and premul_sum add, and the caller scales
//   device   everything is constexpr, which nvcc takes as code for devices too (--expt-relaxed-constexpr)
#pragma once

#include "core/base/check.h"
#include "core/base/types.h"
#include "core/collectives/half.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace pdsim {

// Returns the left operand unless the right one is less, or the only NaN. Comparisons alone: a branch would keep loops from
// vectorising.
template <class T>
[[gnu::always_inline]] constexpr T lesser(T a, T b) {
  return !(a <= b) && a == a ? b : a;
}

template <class T>
[[gnu::always_inline]] constexpr T greater(T a, T b) {
  return !(a >= b) && a == a ? b : a;
}

namespace combining {

template <class T>
struct Sum {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a || b;
    } else if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

template <class T>
struct Product {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

template <class T>
struct Min {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const { return lesser(a, b); }
};
template <class T>
struct Max {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const { return greater(a, b); }
};

// For integers and bool.
template <class T>
struct And {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

}  // namespace combining

// Calls f(operation on T), so that the loop around it is compiled once per operation. `op` must be one that supports() allows.
template <class T, class F>
auto with_operation(ReduceOp op, F&& f) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::band) return std::forward<F>(f)(combining::And<T>{});
    if (op == ReduceOp::bor) return std::forward<F>(f)(combining::Or<T>{});
    if (op == ReduceOp::bxor) return std::forward<F>(f)(combining::Xor<T>{});
  }
  if (op == ReduceOp::product) return std::forward<F>(f)(combining::Product<T>{});
  if (op == ReduceOp::min) return std::forward<F>(f)(combining::Min<T>{});
  if (op == ReduceOp::max) return std::forward<F>(f)(combining::Max<T>{});
  PDSIM_CHECK(op == ReduceOp::sum || op == ReduceOp::avg || op == ReduceOp::premul_sum,
              "a reduction that supports() refuses reached a loop");
  return std::forward<F>(f)(combining::Sum<T>{});
}

// How elements are stored, and the type they are computed in.
template <class T>
struct Element {
  using Stored = T;
  using Value = T;
  static constexpr Value load(Stored s) { return s; }
  static constexpr Stored store(Value v) { return v; }
};
struct F16Element {
  using Stored = std::uint16_t;
  using Value = float;
  static constexpr Value load(Stored s) { return from_f16(s); }
  static constexpr Stored store(Value v) { return to_f16(v); }
};
struct BF16Element {
  using Stored = std::uint16_t;
  using Value = float;
  static constexpr Value load(Stored s) { return from_bf16(s); }
  static constexpr Stored store(Value v) { return to_bf16(v); }
};
struct BoolElement {
  using Stored = std::uint8_t;
  using Value = bool;
  static constexpr Value load(Stored s) { return s != 0; }
  static constexpr Stored store(Value v) { return v ? 1 : 0; }
};

// Calls f(the dtype's Element).
template <class F>
auto with_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f16:
      return std::forward<F>(f)(F16Element{});
    case DType::bf16:
      return std::forward<F>(f)(BF16Element{});
    case DType::f32:
      return std::forward<F>(f)(Element<float>{});
    case DType::f64:
      return std::forward<F>(f)(Element<double>{});
    case DType::i8:
      return std::forward<F>(f)(Element<std::int8_t>{});
    case DType::u8:
      return std::forward<F>(f)(Element<std::uint8_t>{});
    case DType::i32:
      return std::forward<F>(f)(Element<std::int32_t>{});
    case DType::i64:
      return std::forward<F>(f)(Element<std::int64_t>{});
    case DType::boolean:
      break;
  }
  return std::forward<F>(f)(BoolElement{});
}

}  // namespace pdsim
