// Memory shared by a launcher and a rank process: the launcher can read the rank's data however the rank ended.
//
//   why      an anonymous file (memfd): it has no name, so nothing can be left behind, even when the launcher itself is killed;
//            the kernel frees it with the last process that holds it. A mapped file would need a folder and a process to
//            remove it; pipes and sockets lose unwritten data when a process is killed.
//   sealed   its size cannot change, so that no process can make another's access fail; files (at) are as safe as their folder
//   errors   io_error, with the system's reason
#pragma once

#include "backends/os/posix.h"

#include <cstddef>
#include <span>
#include <string>

namespace pdsim {

class SharedMemory {
 public:
  // All zeros. The descriptor is for the rank to inherit; this process only reads.
  static Result<SharedMemory> make(std::size_t bytes);
  // Uses the file `path`, for records that outlive the launcher too; creates it if missing, and keeps its size if that is large
  // enough. All zeros; this process may write. The path may be another process's descriptor, /proc/PID/fd/N.
  static Result<SharedMemory> at(const std::string& path, std::size_t bytes);
  // The same for reading only, as it is. Errors: io_error.
  static Result<SharedMemory> look_at(const std::string& path);
  // The rank's side: takes over the inherited descriptor, and may write. unavailable when the descriptor is not such memory.
  static Result<SharedMemory> open(Descriptor inherited);
  ~SharedMemory();
  SharedMemory(SharedMemory&& o) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  std::span<std::byte> bytes() { return {data_, size_}; }  // of make(): read only
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  int fd() const { return fd_.get(); }

 private:
  SharedMemory(Descriptor fd, std::byte* data, std::size_t size) : fd_(std::move(fd)), data_(data), size_(size) {}
  Descriptor fd_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace pdsim
