// NCCL, as PyTorch's ProcessGroupNCCL uses it. Source of its own capabilities: nccl.h 2.28.
#pragma once

#include "core/semantics/library_row.h"

#include <array>

namespace pdsim::libraries {

inline constexpr std::array nccl_refusals{
    Refusals{.kinds = {CollectiveKind::monitored_barrier},
             .ops = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
             .premul_dtypes = EnumSet<DType>{DType::f16, DType::f32, DType::f64}.but(),
             .any_source = true},
};

// A barrier is an all_reduce of one element, as in ProcessGroupNCCL.cpp.
constexpr EnumSet<CollectiveKind> with_barrier(EnumSet<CollectiveKind> kinds) {
  kinds.add(CollectiveKind::barrier);
  return kinds;
}

inline constexpr Library nccl{
    .semantics =
        {.name = "nccl",
         .explanation =
             "calls pair by order alone, messages without tags, a dead peer is silence, the watchdog ends the process",
         .timeout = 10_min,
         .eager_limit = 0_B,
         .pairing = Pairing::by_order,
         .tags = false,
         .barrier_waits_for_earlier = true,
         .on_timeout = OnTimeout::process_ends,
         .on_peer_end = OnPeerEnd::nothing,
         .on_long_message = OnLongMessage::never_completes,
         .address_exchange = AddressExchange::root_publishes,
         .executors = 1,
         .algorithm = "auto",
         .tensors = {DeviceType::cuda},
         .on_strided = OnStrided::refused,
         .one_rank_per_device = true,
         .reads_nccl_variables = true,
         .one_stream_per_pair = true,
         .communicator_at_first_call = true,
         .waits_on_stream = true},
    // bool as uint8, as in PyTorch.
    .real = Capabilities{.world = "nccl",
                         .title = "NCCL",
                         .collectives = with_barrier(native_in(&NativeNames::nccl)),
                         .arithmetic = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max, ReduceOp::avg,
                                        ReduceOp::premul_sum},
                         .arithmetic_dtypes = EnumSet<DType>{}.but()},
    .refusals = nccl_refusals,
    .native_names = &NativeNames::nccl,
    .raw_forms = {"ncclCall and copies", "ncclCall on the device"},
};

}  // namespace pdsim::libraries
