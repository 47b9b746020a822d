// Typed spans of memory. They never own; `data` is null where a world moves sizes only (payload: none).
#pragma once

#include "core/base/quantity.h"
#include "core/base/types.h"

#include <cstddef>
#include <cstdint>

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

}  // namespace pdsim
