#include "backends/local/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pdsim {

Result<SharedMemory> SharedMemory::make(std::size_t bytes) {
  Descriptor fd(memfd_create("pdsim flight record", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error("cannot make memory to share with a rank");
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return system_error("cannot map memory to share with a rank");
  return SharedMemory(std::move(fd), static_cast<std::byte*>(data), bytes);
}

Result<SharedMemory> SharedMemory::open(Descriptor inherited) {
  const Error not_ours{Code::unavailable, "this process inherited no memory for its flight record", {}};
  const int seals = inherited ? fcntl(inherited.get(), F_GET_SEALS) : -1;
  struct stat about {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(inherited.get(), &about) != 0 || about.st_size <= 0)
    return not_ours;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, inherited.get(), 0);
  if (data == MAP_FAILED) return system_error("cannot map the memory of the flight record");
  inherited.reset();
  return SharedMemory(Descriptor(), static_cast<std::byte*>(data), size);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

SharedMemory::SharedMemory(SharedMemory&& o) noexcept
    : fd_(std::move(o.fd_)), data_(std::exchange(o.data_, nullptr)), size_(o.size_) {}

}  // namespace pdsim
