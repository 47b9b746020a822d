// What a user may choose about DDP, and what differs between PyTorch's versions.
#pragma once

#include "core/base/quantity.h"

#include <cstdint>

namespace pdsim {

// What differs between PyTorch versions (SEMANTICS section 7); a row of the profile table fills it.
struct DdpProfile {
  bool first_bucket_follows_explicit_cap = true;     // 2.x: an explicit cap is also the first limit
  bool skip_buffer_broadcast_in_constructor = true;  // 2.x with broadcast_buffers = false
  bool used_map_kept_under_no_sync = true;           // 2.4 and later: a use inside no_sync counts as a use
  bool unused_size_accumulates = true;               // before 2.14: logging adds up the bytes of iterations in a row
  bool buffer_broadcast_raises_versions = true;      // before 2.14: autograd sees that a forward overwrote buffers
};

// What brings a bucket's gradients together (comm_hook.h).
struct CommHookSpec {
  enum class Kind : std::uint8_t { none, allreduce, fp16_compress, bf16_compress, powersgd };
  Kind kind = Kind::none;
  // Of powersgd, named as in PyTorch's PowerSGDState.
  std::int64_t matrix_approximation_rank = 1;
  std::int64_t start_iter = 1000;  // start_powerSGD_iter
  double min_compression_rate = 2.0;
  bool use_error_feedback = true;
  bool warm_start = true;
  double orthogonalization_epsilon = 0.0;
  std::uint64_t random_seed = 0;
};

struct DdpOptions {
  Bytes bucket_cap{25LL << 20};  // 0: one bucket per parameter
  bool explicit_cap = false;     // the user gave bucket_cap
  Bytes first_bucket{1LL << 20};
  bool explicit_first_bucket = false;
  bool find_unused_parameters = false;
  bool init_sync = true;  // the constructor compares the ranks' models and gives all the parameters of rank 0
  bool broadcast_buffers = true;
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  bool check_reduction = false;  // deprecated: warns, and does nothing
  CommHookSpec comm_hook{};
  DdpProfile profile{};
};

}  // namespace pdsim
