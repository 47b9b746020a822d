// The two bucket layouts of a wrapped module: the one of the first iteration, and the rebuilt one (PyTorch's
// reducer.cpp).
//
//   initial  definition order, one bucket per dtype (with find_unused_parameters at once [first, cap]), list reversed
//   rebuilt  the order in which gradients became ready, limits [first, cap]; never with find_unused_parameters
#pragma once

#include "core/parallel/bucket_plan.h"
#include "core/semantics/ddp_options.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pdsim {

using BucketLayout = std::vector<std::vector<std::size_t>>;  // per bucket the indices of its parameters

// [first, cap]; an explicit cap of recent PyTorch versions is the only limit.
std::vector<Bytes> limits_of(const DdpOptions& options);

BucketLayout initial_layout(std::span<const BucketTensor> parameters, const DdpOptions& options);
bool will_rebuild(const DdpOptions& options);
BucketLayout rebuilt_layout(std::span<const BucketTensor> parameters, std::span<const std::size_t> ready_order,
                            const DdpOptions& options);

}  // namespace pdsim
