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

InFlight launch(ProcessGroup& group, std::vector<nn::Tensor> tensors, const CoalescedOptions& options) {
  std::int64_t elements = 0;
  for (const nn::Tensor& t : tensors) elements += t.numel();
  nn::Tensor flat = nn::Tensor::zeros({elements}, tensors.front().dtype());
  std::byte* to = flat.mutable_view().data;
  for (const nn::Tensor& t : tensors) {
    const ConstView from = t.view();
    if (from.count == 0) continue;
    std::memcpy(to, from.data, static_cast<std::size_t>(from.bytes()));
    to += from.bytes();
  }
  CallOptions call;
  call.purpose = options.purpose;
  call.async = true;
  auto work = keeping(flat, group.broadcast(flat.mutable_view(), options.root, std::move(call)));
  return {std::move(tensors), flat, std::move(work)};
}

Status finish(InFlight& broadcast, const CoalescedOptions& options) {
  PDSIM_TRY(wait(broadcast.work));
  ConstView rest = broadcast.flat.view();
  for (nn::Tensor& t : broadcast.tensors) {
    const ConstView part{rest.data, rest.dtype, t.numel()};
    t.copy_(part);
    rest.data += part.bytes();
    if (options.written) options.written(t);
  }
  return {};
}

}  // namespace

Status broadcast_coalesced(ProcessGroup& group, std::span<const nn::Tensor> tensors, const CoalescedOptions& options) {
  std::vector<BucketTensor> sizes;
  for (const nn::Tensor& t : tensors) sizes.push_back({t.numel(), t.dtype()});
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
