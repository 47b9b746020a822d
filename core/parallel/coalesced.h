// Broadcasts of many tensors in few messages, as DDP sends its parameters and buffers.
//
//   order   per dtype flat messages of at least `limit` bytes (the last may be smaller), by their first tensor; two in
//           flight
//   effect  every rank copies the result back in place, the root too: each tensor's version rises by one, unless the options
//           say otherwise
//   source  torch/csrc/distributed/c10d/comm.cpp, broadcast_coalesced and BroadcastWork
#pragma once

#include "core/group/process_group.h"
#include "core/nn/tensor.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace pdsim {

constexpr Bytes coalesced_limit{250LL << 20};

struct CoalescedOptions {
  PurposeKind purpose = PurposeKind::none;
  Rank root = 0;
  Bytes limit = coalesced_limit;
  bool raises_versions = true;
  std::function<void(const nn::Tensor&)> written;  // after each tensor was copied back; may be empty
};

Status broadcast_coalesced(ProcessGroup& group, std::span<const nn::Tensor> tensors, const CoalescedOptions& options);

// Keeps the memory of an operation alive until the operation is over: its backend may still write it after the rank has given up
// waiting.
template <class Buffer>
Result<WorkPtr> keeping(Buffer buffer, Result<WorkPtr> started) {
  if (started.ok()) (*started)->on_done([kept = std::move(buffer)](const Status&) {});
  return started;
}

}  // namespace pdsim
