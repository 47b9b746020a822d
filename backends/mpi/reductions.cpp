#include "backends/mpi/reductions.h"

#include "backends/mpi/errors.h"
#include "core/collectives/reduce.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <utility>

namespace pdsim {
namespace {

// The function that MPI calls for a user-defined operation: inout = in op inout. Every operation of the table commutes.
template <DType dtype, ReduceOp op>
void combine(void* in, void* inout, int* count, MPI_Datatype*) {
  reduce({static_cast<std::byte*>(inout), dtype, *count}, {static_cast<const std::byte*>(in), dtype, *count}, op);
}

template <std::size_t t, std::size_t... o>
constexpr auto row_of(std::index_sequence<o...>) {
  return std::array<MPI_User_function*, sizeof...(o)>{combine<static_cast<DType>(t), static_cast<ReduceOp>(o)>...};
}

template <std::size_t... t>
constexpr auto table_of(std::index_sequence<t...>) {
  return std::array{row_of<t>(std::make_index_sequence<reduce_op_names.size()>())...};
}

constexpr auto functions = table_of(std::make_index_sequence<dtypes.size()>());

ReduceOp without_scale(ReduceOp op) { return op == ReduceOp::avg || op == ReduceOp::premul_sum ? ReduceOp::sum : op; }

// MPI_DATATYPE_NULL: a type of our own.
MPI_Datatype own_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return MPI_FLOAT;
    case DType::f64:
      return MPI_DOUBLE;
    case DType::i8:
      return MPI_INT8_T;
    case DType::u8:
    case DType::boolean:
      return MPI_UINT8_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::i64:
      return MPI_INT64_T;
    case DType::f16:
    case DType::bf16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

// MPI_OP_NULL: MPI has none.
MPI_Op own_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::product:
      return MPI_PROD;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::band:
      return MPI_BAND;
    case ReduceOp::bor:
      return MPI_BOR;
    case ReduceOp::bxor:
      return MPI_BXOR;
    case ReduceOp::avg:
    case ReduceOp::premul_sum:
      break;
  }
  return MPI_OP_NULL;
}

}  // namespace

Result<ompi_datatype_t*> MpiReductions::type(DType dtype) {
  if (const MPI_Datatype own = own_type(dtype); own != MPI_DATATYPE_NULL) return own;
  const auto found = types_.find(dtype);
  if (found != types_.end()) return found->second;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PDSIM_TRY(mpi_status(MPI_Type_contiguous(static_cast<int>(size_of(dtype)), MPI_BYTE, &made), "MPI_Type_contiguous"));
  PDSIM_TRY(mpi_status(MPI_Type_commit(&made), "MPI_Type_commit"));
  types_[dtype] = made;
  return made;
}

Result<ompi_op_t*> MpiReductions::op(ReduceOp op, DType dtype) {
  op = without_scale(op);
  if (own_.combines(op, dtype)) return own_op(op);
  const auto found = ops_.find({op, dtype});
  if (found != ops_.end()) return found->second;
  MPI_Op made = MPI_OP_NULL;
  MPI_User_function* function = functions[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)];
  constexpr int commutes = 1;
  PDSIM_TRY(mpi_status(MPI_Op_create(function, commutes, &made), "MPI_Op_create"));
  ops_[{op, dtype}] = made;
  return made;
}

void MpiReductions::release() {
  for (auto& [dtype, type] : types_) MPI_Type_free(&type);
  for (auto& [key, op] : ops_) MPI_Op_free(&op);
  types_.clear();
  ops_.clear();
}

}  // namespace pdsim
