// Stubs for a build without NCCL.

#include "backends/nccl/nccl_backend.h"

namespace pdsim {

Availability probe_nccl() { return nccl_availability(); }

Result<std::unique_ptr<Backend>> make_nccl_backend(Runtime&) {
  return Error{Code::unavailable, nccl_availability().reason, {}};
}

}  // namespace pdsim
