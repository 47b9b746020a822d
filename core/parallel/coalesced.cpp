#include "core/parallel/coalesced.h"

#include "core/parallel/bucket_plan.h"

#include <cstring>
#include <deque>
#include <vector>

namespace pdsim {
namespace {

struct InFlight {
  std::vector<nn::Tensor> tensors;
  nn::Tensor flat;
  Result<WorkPtr> work;
};

// Sizes only where none of the tensors has values.
nn::Tensor flat_for(const std::vector<nn::Tensor>& tensors) {
  std::int64_t elements = 0;
  bool values = false, memory = false;
  for (const nn::Tensor& t : tensors) {
    elements += t.numel();
    values = values || t.has_values();
    memory = memory || t.has_memory();
  }
  const DType dtype = tensors.front().dtype();
  return values ? nn::Tensor::zeros({elements}, dtype) : nn::Tensor::meta({elements}, dtype, memory);
}

InFlight launch(ProcessGroup& group, std::vector<nn::Tensor> tensors, const CoalescedOptions& options) {
  nn::Tensor flat = flat_for(tensors);
  std::int64_t offset = 0;
  for (const nn::Tensor& t : tensors) {
    flat.slice(offset, t.shape()).copy_(t.view());
    offset += t.numel();
  }
  CallOptions call;
  call.purpose = options.purpose;
  call.async = true;
  auto work = keeping(flat, group.broadcast(flat.mutable_view(), options.root, std::move(call)));
  return {std::move(tensors), flat, std::move(work)};
}

void copy_back(const nn::Tensor& from, nn::Tensor& to, bool raises_version) {
  if (raises_version) return to.copy_(from.view());
  const ConstView values = from.view();
  if (to.has_values() && values.data != nullptr && values.count > 0)
    std::memmove(to.mutable_view().data, values.data, static_cast<std::size_t>(values.bytes()));
}

Status finish(InFlight& broadcast, const CoalescedOptions& options) {
  PDSIM_TRY(wait(broadcast.work));
  std::int64_t offset = 0;
  for (nn::Tensor& t : broadcast.tensors) {
    copy_back(broadcast.flat.slice(offset, t.shape()), t, options.raises_versions);
    offset += t.numel();
    if (options.written) options.written(t);
  }
  return {};
}

}  // namespace

Status broadcast_coalesced(ProcessGroup& group, std::span<const nn::Tensor> tensors, const CoalescedOptions& options) {
  std::vector<BucketTensor> sizes;
  for (const nn::Tensor& t : tensors) sizes.push_back({t.numel(), t.dtype(), t.device()});
  constexpr std::size_t most_in_flight = 2;
  std::deque<InFlight> in_flight;
  for (const auto& indices : assign_buckets(sizes, std::span(&options.limit, 1), true).buckets) {
    if (in_flight.size() == most_in_flight) {
      PDSIM_TRY(finish(in_flight.front(), options));
      in_flight.pop_front();
    }
    std::vector<nn::Tensor> members;
    for (const std::size_t i : indices) members.push_back(tensors[i]);
    in_flight.push_back(launch(group, std::move(members), options));
  }
  for (InFlight& broadcast : in_flight) PDSIM_TRY(finish(broadcast, options));
  return {};
}

}  // namespace pdsim
