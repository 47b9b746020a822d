#include "backends/raw_calls.h"

#include "core/base/enum_set.h"

#include <fmt/format.h>

#include <array>

namespace pdsim {
namespace {

using K = CollectiveKind;

constexpr std::array raw_call_rows{
    RawCall{"gloo", K::all_reduce, "gloo::allreduce"},
    RawCall{"gloo", K::reduce, "gloo::reduce"},
    RawCall{"gloo", K::broadcast, "gloo::broadcast"},
    RawCall{"gloo", K::all_gather, "gloo::allgather"},
    RawCall{"gloo", K::gather, "gloo::gather"},
    RawCall{"gloo", K::scatter, "gloo::scatter"},
    RawCall{"gloo", K::all_to_all, "gloo::alltoall"},
    RawCall{"gloo", K::barrier, "gloo::barrier"},
    RawCall{"mpi", K::all_reduce, "MPI_Iallreduce"},
    RawCall{"mpi", K::all_reduce, "MPI_Allreduce"},
    RawCall{"mpi", K::reduce, "MPI_Ireduce"},
    RawCall{"mpi", K::reduce, "MPI_Reduce"},
    RawCall{"mpi", K::broadcast, "MPI_Ibcast"},
    RawCall{"mpi", K::broadcast, "MPI_Bcast"},
    RawCall{"mpi", K::all_gather, "MPI_Iallgather"},
    RawCall{"mpi", K::all_gather, "MPI_Allgather"},
    RawCall{"mpi", K::gather, "MPI_Igather"},
    RawCall{"mpi", K::gather, "MPI_Gather"},
    RawCall{"mpi", K::scatter, "MPI_Iscatter"},
    RawCall{"mpi", K::scatter, "MPI_Scatter"},
    RawCall{"mpi", K::reduce_scatter, "MPI_Ireduce_scatter_block"},
    RawCall{"mpi", K::reduce_scatter, "MPI_Reduce_scatter_block"},
    RawCall{"mpi", K::all_to_all, "MPI_Ialltoall"},
    RawCall{"mpi", K::all_to_all, "MPI_Alltoall"},
    RawCall{"mpi", K::barrier, "MPI_Ibarrier"},
    RawCall{"mpi", K::barrier, "MPI_Barrier"},
    RawCall{"mpi", K::scan, "MPI_Iscan"},
    RawCall{"mpi", K::scan, "MPI_Scan"},
    RawCall{"mpi", K::exscan, "MPI_Iexscan"},
    RawCall{"mpi", K::exscan, "MPI_Exscan"},
    RawCall{"nccl", K::all_reduce, "ncclAllReduce and copies"},
    RawCall{"nccl", K::all_reduce, "ncclAllReduce on the device"},
    RawCall{"nccl", K::reduce, "ncclReduce and copies"},
    RawCall{"nccl", K::reduce, "ncclReduce on the device"},
    RawCall{"nccl", K::reduce_scatter, "ncclReduceScatter and copies"},
    RawCall{"nccl", K::reduce_scatter, "ncclReduceScatter on the device"},
    RawCall{"nccl", K::broadcast, "ncclBroadcast and copies"},
    RawCall{"nccl", K::broadcast, "ncclBroadcast on the device"},
    RawCall{"nccl", K::all_gather, "ncclAllGather and copies"},
    RawCall{"nccl", K::all_gather, "ncclAllGather on the device"},
    RawCall{"nccl", K::all_to_all, "ncclAlltoAll and copies"},
    RawCall{"nccl", K::all_to_all, "ncclAlltoAll on the device"},
    RawCall{"nccl", K::gather, "ncclGather and copies"},
    RawCall{"nccl", K::gather, "ncclGather on the device"},
    RawCall{"nccl", K::scatter, "ncclScatter and copies"},
    RawCall{"nccl", K::scatter, "ncclScatter on the device"},
};

// What every library's own kernels take; pdsim's would be part of our core.
constexpr EnumSet<ReduceOp> ops{ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
constexpr EnumSet<DType> dtypes_reduced{DType::f32, DType::f64, DType::i8, DType::u8, DType::i32, DType::i64};

}  // namespace

std::span<const RawCall> raw_calls() { return raw_call_rows; }

std::vector<std::string_view> raw_functions(std::string_view world, CollectiveKind kind) {
  std::vector<std::string_view> found;
  for (const RawCall& r : raw_call_rows)
    if (r.world == world && r.kind == kind) found.push_back(r.function);
  return found;
}

std::string raw_problem(std::string_view world, CollectiveKind kind, DType dtype, ReduceOp op) {
  if (raw_functions(world, kind).empty())
    return fmt::format("{} has no {} that could be called directly", world, name_of(kind));
  if (row(kind).reduces && (!ops.has(op) || !dtypes_reduced.has(dtype)))
    return fmt::format("{} of {} is pdsim's own on {}, and is not called directly", name_of(op), name_of(dtype), world);
  return "";
}

}  // namespace pdsim
