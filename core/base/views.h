// Typed spans of memory. They never own it; `data` is null in a world that moves only sizes (payload: none).
#pragma once

#include "core/base/quantity.h"
#include "core/base/types.h"

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace pdsim {

struct ConstView {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t count = 0;  // elements
  std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }
};

struct MutableView {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t count = 0;  // elements
  std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }
  operator ConstView() const { return {data, dtype, count}; }  // NOLINT: every writable view is readable
};

template <class T>
struct ElementType;  // no dtype has elements of the C++ type T
template <>
struct ElementType<float> : std::integral_constant<DType, DType::f32> {};
template <>
struct ElementType<double> : std::integral_constant<DType, DType::f64> {};
template <>
struct ElementType<std::int8_t> : std::integral_constant<DType, DType::i8> {};
template <>
struct ElementType<std::uint8_t> : std::integral_constant<DType, DType::u8> {};
template <>
struct ElementType<std::int32_t> : std::integral_constant<DType, DType::i32> {};
template <>
struct ElementType<std::int64_t> : std::integral_constant<DType, DType::i64> {};
template <>
struct ElementType<bool> : std::integral_constant<DType, DType::boolean> {};

template <class T>
constexpr DType dtype_of = ElementType<T>::value;

// Views an array, a vector or a span, which must outlive the view; a ConstView where the elements are const.
template <std::ranges::contiguous_range Range>
requires std::ranges::borrowed_range<Range> && std::ranges::sized_range<Range>
auto view_of(Range&& range) {
  using Element = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  constexpr DType dtype = dtype_of<std::remove_const_t<Element>>;
  const auto count = static_cast<std::int64_t>(std::ranges::size(range));
  if constexpr (std::is_const_v<Element>)
    return ConstView{reinterpret_cast<const std::byte*>(std::ranges::data(range)), dtype, count};
  else
    return MutableView{reinterpret_cast<std::byte*>(std::ranges::data(range)), dtype, count};
}

// Views a single number.
template <class T>
requires std::is_arithmetic_v<T>
auto view_of(T& value) { return view_of(std::span(&value, 1)); }

}  // namespace pdsim
