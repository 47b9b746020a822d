#include "backends/nccl/device/staging.h"

#include "backends/nccl/errors.h"

#include <algorithm>
#include <bit>

namespace pdsim {

NcclStaging::~NcclStaging() {
  for (const Buffer& buffer : all_) {
    (void)cuda_.release(buffer.device);
    (void)cuda_.release_host(buffer.host);
  }
}

void NcclStaging::give_back(Buffer buffer) {
  buffer.works->clear();
  free_.push_back(buffer);
}

Result<NcclStaging::Buffer> NcclStaging::take(std::int64_t bytes) {
  constexpr std::size_t smallest = 4096;
  const auto needed = static_cast<std::size_t>(bytes);
  auto best = free_.end();
  for (auto b = free_.begin(); b != free_.end(); ++b)
    if (b->bytes >= needed && (best == free_.end() || b->bytes < best->bytes)) best = b;
  if (best != free_.end()) {
    const Buffer found = *best;
    free_.erase(best);
    return found;
  }
  Buffer made;
  made.bytes = std::bit_ceil(std::max(needed, smallest));
  void *device = nullptr, *host = nullptr;
  PDSIM_TRY(cuda_status(cuda_, cuda_.allocate(&device, made.bytes), "cudaMalloc"));
  made.device = static_cast<std::byte*>(device);
  Status pinned = cuda_status(cuda_, cuda_.allocate_host(&host, made.bytes), "cudaMallocHost");
  if (!pinned.ok()) {
    (void)cuda_.release(device);
    return pinned.error();
  }
  made.host = static_cast<std::byte*>(host);
  made.works = works_.emplace_back(std::make_unique<HostWorks>()).get();
  all_.push_back(made);
  return made;
}

}  // namespace pdsim
