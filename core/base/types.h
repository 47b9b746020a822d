// The vocabulary of every layer: ranks, sequence numbers, element types and reduce operations.
#pragma once

#include "core/base/enum_names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pdsim {

using Rank = int;          // 0 .. world size - 1; a group rank where a header says so
using Seq = std::int64_t;  // the n-th collective of a group, counted from 0 on every rank
using Tag = std::uint64_t;
__extension__ using Wide = unsigned __int128;  // exact products of 64-bit integers

constexpr Rank no_rank = -1;     // not a rank: a call without a root, a peer that a record does not name
constexpr Rank any_source = -2;  // a receive that takes the first message from any rank

enum class DType : std::uint8_t { f16, bf16, f32, f64, i8, u8, i32, i64, boolean };

struct DTypeRow {
  DType dtype;
  std::string_view name;        // as scenario files and reports write it
  std::string_view torch_name;  // as PyTorch's messages write it
  std::size_t size;             // bytes per element
  bool floating;
};

constexpr std::array<DTypeRow, 9> dtypes{{
    {DType::f16, "f16", "torch.HalfTensor", 2, true},
    {DType::bf16, "bf16", "torch.BFloat16Tensor", 2, true},
    {DType::f32, "f32", "torch.FloatTensor", 4, true},
    {DType::f64, "f64", "torch.DoubleTensor", 8, true},
    {DType::i8, "i8", "torch.CharTensor", 1, false},
    {DType::u8, "u8", "torch.ByteTensor", 1, false},
    {DType::i32, "i32", "torch.IntTensor", 4, false},
    {DType::i64, "i64", "torch.LongTensor", 8, false},
    {DType::boolean, "bool", "torch.BoolTensor", 1, false},
}};

constexpr const DTypeRow& row(DType t) { return dtypes[static_cast<std::size_t>(t)]; }
constexpr std::size_t size_of(DType t) { return row(t).size; }
constexpr std::string_view name_of(DType t) { return row(t).name; }

enum class ReduceOp : std::uint8_t { sum, avg, product, min, max, band, bor, bxor, premul_sum };

constexpr std::array<std::string_view, 9> reduce_op_names{"sum",  "avg", "product", "min",       "max",
                                                          "band", "bor", "bxor",    "premul_sum"};

constexpr std::string_view name_of(ReduceOp op) { return reduce_op_names[static_cast<std::size_t>(op)]; }

template <>
inline constexpr auto enum_rows<DType> = [] {
  std::array<EnumRow<DType>, dtypes.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {dtypes[i].dtype, dtypes[i].name};
  return rows;
}();
template <>
inline constexpr auto enum_rows<ReduceOp> = [] {
  std::array<EnumRow<ReduceOp>, reduce_op_names.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {static_cast<ReduceOp>(i), reduce_op_names[i]};
  return rows;
}();

std::optional<DType> dtype_named(std::string_view name);
std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace pdsim
