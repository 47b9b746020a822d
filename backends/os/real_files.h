// Files of this machine: the LogFile under a FileStore, on open(2), flock(2) and polling every 10 ms as c10d does.
//
//   locks   flock per operation: shared to read, exclusive to append; works between processes and between handles
//   time    the steady clock, which is why this is here and not in core/store
//   errors  io_error with the system's words
#pragma once

#include "core/store/log_file.h"

namespace pdsim {

class RealFiles final : public Files {
 public:
  // Opens nothing yet: the first append creates the file. Relative paths are relative to the process's directory.
  Result<std::unique_ptr<LogFile>> open_log(std::string_view path) override;
  Status write_whole(std::string_view path, std::string_view content) override;
  Result<std::string> read_whole(std::string_view path) override;
};

}  // namespace pdsim
