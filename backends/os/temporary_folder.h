// A folder for the files of one run, which does not outlive it, however the run ends.
#pragma once

#include "backends/os/posix.h"

namespace pdsim {

// The name, as the system shows it, of the process beside each folder. It ends by itself, soon after all writers to the folder,
// and must not be killed before.
inline constexpr const char* folder_keeper = "pdsim keeper";

// Created below the system's temporary folder, or `in`. The destructor removes it with all its contents. A small process beside
// it removes the folder if this process is killed, when no destructor runs.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make(const std::string& in = {});
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& o) noexcept
      : path_(std::exchange(o.path_, {})), alive_(std::move(o.alive_)), keeper_(std::exchange(o.keeper_, -1)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  const std::string& path() const { return path_; }
  // A child that inherits this descriptor and is killed with this process can write until its own end: the folder waits for it.
  int alive() const { return alive_.get(); }

 private:
  TemporaryFolder(std::string path, Descriptor alive, pid_t keeper)
      : path_(std::move(path)), alive_(std::move(alive)), keeper_(keeper) {}

  std::string path_;
  Descriptor alive_;  // the end of a pipe that closes with this process
  pid_t keeper_ = -1;
};

}  // namespace pdsim
