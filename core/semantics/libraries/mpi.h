// Open MPI, as PyTorch's ProcessGroupMPI uses it. Source of its own capabilities: MPI 3.1, chapters 5.9 and 5.12.
#pragma once

#include "core/semantics/library_row.h"

#include <array>

namespace pdsim::libraries {

inline constexpr std::array mpi_refusals{
    Refusals{.dtypes = {DType::f16, DType::bf16, DType::boolean},
             .kinds = {CollectiveKind::reduce_scatter, CollectiveKind::monitored_barrier},
             .ops = {ReduceOp::avg, ReduceOp::premul_sum, ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}},
};

inline constexpr Library mpi{
    .semantics = {.name = "mpi",
                  .explanation = "small sends are eager, calls pair by kind and count, no timeout, the launcher ends "
                                 "the job when a rank dies",
                  .timeout = Time::max(),
                  .eager_limit = 4_KiB,
                  .pairing = Pairing::by_kind,
                  .tags = true,
                  .barrier_waits_for_earlier = false,
                  .on_timeout = OnTimeout::nothing,
                  .on_peer_end = OnPeerEnd::job_ends,
                  .on_long_message = OnLongMessage::receiver_fails,
                  .address_exchange = AddressExchange::full_mesh,
                  .executors = 1,
                  .algorithm = "auto",
                  .tensors = {DeviceType::cpu},
                  .on_strided = OnStrided::refused,
                  .sync_batchnorm = false,
                  .ranks_from_launcher = true,
                  .watchdog_silent = "nothing, ever: Open MPI has no timeout"},
    .real = Capabilities{.world = "mpi",
                         .title = "MPI",
                         .collectives = native_in(&NativeNames::mpi),
                         .arithmetic = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max},
                         .bitwise = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
                         .arithmetic_dtypes = {DType::f32, DType::f64, DType::i8, DType::u8, DType::i32, DType::i64},
                         .bitwise_dtypes = {DType::i8, DType::u8, DType::i32, DType::i64}},
    .refusals = mpi_refusals,
    .native_names = &NativeNames::mpi,
    .raw_forms = {"MPI_Icall", "MPI_Call"},
};

}  // namespace pdsim::libraries
