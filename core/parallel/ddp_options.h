// What a user may choose about DDP, and what differs between PyTorch's versions.
#pragma once

#include "core/base/quantity.h"

namespace pdsim {

// What differs between PyTorch versions (SEMANTICS section 7); a row of the profile table fills it.
struct DdpProfile {
  bool first_bucket_follows_explicit_cap = true;     // 2.x: an explicit cap is also the first limit
  bool skip_buffer_broadcast_in_constructor = true;  // 2.x with broadcast_buffers = false
  bool used_map_kept_under_no_sync = true;           // 2.4 and later: a use inside no_sync counts as a use
};

struct DdpOptions {
  Bytes bucket_cap{25LL << 20};  // 0: one bucket per parameter
  bool explicit_cap = false;     // the user gave bucket_cap
  Bytes first_bucket{1LL << 20};
  bool explicit_first_bucket = false;
  bool find_unused_parameters = false;
  bool broadcast_buffers = true;
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  DdpProfile profile{};
};

}  // namespace pdsim
