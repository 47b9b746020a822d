// Gloo, as PyTorch's ProcessGroupGloo uses it. Source of its own capabilities: Gloo 0.5.
#pragma once

#include "core/semantics/library_row.h"

#include <array>

namespace pdsim::libraries {

inline constexpr std::array gloo_refusals{
    Refusals{.profile = "pytorch-1.13",
             .dtypes = {DType::bf16, DType::boolean},
             .kinds = {CollectiveKind::reduce_scatter},
             .ops = {ReduceOp::avg, ReduceOp::premul_sum}},
    Refusals{.profile = "pytorch-2.14", .dtypes = {DType::bf16}, .ops = {ReduceOp::premul_sum}},
    Refusals{.ops = {ReduceOp::avg, ReduceOp::premul_sum}},
};

inline constexpr Library gloo{
    .semantics = {.name = "gloo",
                  .explanation =
                      "rendezvous sends, calls pair by kind and count, a timeout or a closed connection is an error",
                  .timeout = 30_min,
                  .eager_limit = 0_B,
                  .pairing = Pairing::by_kind,
                  .tags = true,
                  .barrier_waits_for_earlier = true,
                  .on_timeout = OnTimeout::work_fails,
                  .on_peer_end = OnPeerEnd::peers_fail,
                  .on_long_message = OnLongMessage::receiver_aborts,
                  .address_exchange = AddressExchange::full_mesh,
                  .executors = 2,
                  .algorithm = "auto:gloo",
                  .tensors = {DeviceType::cpu, DeviceType::cuda},
                  .on_strided = OnStrided::taken_for_packed,
                  .sync_batchnorm = false},
    // Gloo reduces through a function passed to it, which is pdsim's kernel.
    .real = Capabilities{.world = "gloo", .title = "gloo", .collectives = native_in(&NativeNames::gloo)},
    .refusals = gloo_refusals,
    .native_names = &NativeNames::gloo,
    .raw_forms = {"gloo::call"},
};

}  // namespace pdsim::libraries
