// Details of only some calls: messages with a tag, uneven collectives, buckets of gradients, calls from PyTorch's dumps.
#pragma once

#include "core/record/note_field.h"
#include "core/record/rpc_details.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pdsim {

// Elements for, or from, each rank of a group. A long list is represented by its parts, sum and hash.
struct SplitSizes {
  std::vector<std::int64_t> sizes;
  std::int64_t parts = 0, elements = 0;
  std::uint64_t hash = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"sizes", &SplitSizes::sizes}, Field{"parts", &SplitSizes::parts},
                      Field{"elements", &SplitSizes::elements}, Field{"hash", &SplitSizes::hash}};
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
  static constexpr auto fields() {
    return std::tuple{Field{"tag", &CallDetails::tag},           Field{"sends", &CallDetails::sends},
                      Field{"receives", &CallDetails::receives}, Field{"parameters", &CallDetails::parameters},
                      Field{"batch", &CallDetails::batch},       Field{"record", &CallDetails::record},
                      Field{"shape", &CallDetails::shape},       Field{"dtype", &CallDetails::dtype},
                      Field{"rpc", &CallDetails::rpc}};
  }
  bool operator==(const CallDetails&) const = default;
};

}  // namespace pdsim
