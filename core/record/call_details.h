// Details of only some calls: messages with a tag, uneven collectives, buckets of gradients, calls from PyTorch's dumps.
#pragma once

#include "core/record/note_field.h"
#include "core/record/rpc_details.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Elements for, or from, each rank of a group. A long list is represented by its parts, sum and hash.
struct SplitSizes {
  std::vector<std::int64_t> sizes;
  std::int64_t parts = 0, elements = 0;
  std::uint64_t hash = 0;
  static constexpr void fields(auto field) {
    field("sizes", &SplitSizes::sizes), field("parts", &SplitSizes::parts), field("elements", &SplitSizes::elements),
    field("hash", &SplitSizes::hash);
  }
  bool operator==(const SplitSizes&) const = default;
  bool empty() const { return parts == 0; }
};
SplitSizes split_sizes(std::vector<std::int64_t> sizes);
// "1, 2, 3", or "100 parts, 5000 elements, hash 0123456789abcdef".
std::string text_of(const SplitSizes& splits);

struct CallDetails {
  std::uint64_t tag = 0;
  SplitSizes sends, receives;           // uneven calls
  std::vector<std::string> parameters;  // of a bucket
  std::int64_t batch = -1;              // calls of one batch progress together
  std::int64_t record = -1;             // its number in the dump
  std::string shape;                    // "[2, 3] [4]", of the tensors
  std::string dtype;                    // PyTorch's name of an element type that has no DType
  RpcDetails rpc;
  static constexpr void fields(auto field) {
    field("tag", &CallDetails::tag), field("sends", &CallDetails::sends), field("receives", &CallDetails::receives),
    field("parameters", &CallDetails::parameters), field("batch", &CallDetails::batch), field("record", &CallDetails::record),
    field("shape", &CallDetails::shape), field("dtype", &CallDetails::dtype), field("rpc", &CallDetails::rpc);
  }
  bool operator==(const CallDetails&) const = default;
};

}  // namespace pdsim
