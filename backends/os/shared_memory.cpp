#include "backends/os/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
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

Result<SharedMemory> SharedMemory::at(const std::string& path, std::size_t bytes) {
  Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0) return system_error("cannot keep the flight record in " + path);
  if (!S_ISREG(about.st_mode))
    return Error{Code::io_error, "cannot keep the flight record in " + path + ": it is not a file", {}};
  const auto there = static_cast<std::size_t>(about.st_size);
  if (there < bytes)  // all of it now: a disk that is full later would cost the process
    if (const int failed = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)); failed != 0) {
      if (there == 0) unlink(path.c_str());
      errno = failed;
      return system_error("cannot keep the flight record in " + path);
    }
  const std::size_t size = std::max(there, bytes);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return system_error("cannot map the flight record " + path);
  std::memset(data, 0, size);
  return SharedMemory(std::move(fd), static_cast<std::byte*>(data), size);
}

Result<SharedMemory> SharedMemory::look_at(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0) return system_error("cannot read " + path);
  if (!S_ISREG(about.st_mode) || about.st_size == 0) return Error{Code::io_error, path + " holds no flight record", {}};
  const auto size = static_cast<std::size_t>(about.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return system_error("cannot read " + path);
  return SharedMemory(std::move(fd), static_cast<std::byte*>(data), size);
}

Result<SharedMemory> SharedMemory::open(Descriptor inherited) {
  const Error not_ours{Code::unavailable, "this process inherited no memory for its flight record", {}};
  const int access = inherited ? fcntl(inherited.get(), F_GETFL) & O_ACCMODE : O_RDONLY;
  struct stat about {};
  if (access != O_RDWR || fstat(inherited.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0)
    return not_ours;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, inherited.get(), 0);
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
