// Memory for moving a group's data to the device and back: device buffers, each with a pinned one of the same size on the host,
// as only pinned memory is copied without blocking the host.
//
//   memory   buffers are kept for later calls that they fit, until the object ends
//   threads  the engine's
#pragma once

#include "backends/nccl/library.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace pdsim {

// Functions that a stream calls on the host.
using HostWorks = std::deque<std::function<void()>>;

class NcclStaging {
 public:
  struct Buffer {
    std::byte* device = nullptr;
    std::byte* host = nullptr;
    std::size_t bytes = 0;
    HostWorks* works =
        nullptr;  // until the buffer is returned, or the memory is freed: a stream that is cut off may still run them
  };

  explicit NcclStaging(const CudaCalls& cuda) : cuda_(cuda) {}
  ~NcclStaging();
  NcclStaging(const NcclStaging&) = delete;
  NcclStaging& operator=(const NcclStaging&) = delete;

  // Returns at least `bytes`, not cleared. Errors: limit_exceeded.
  Result<Buffer> take(std::int64_t bytes);
  void give_back(Buffer buffer);

 private:
  CudaCalls cuda_;
  std::vector<std::unique_ptr<HostWorks>> works_;
  std::vector<Buffer> all_, free_;
};

}  // namespace pdsim
