// The files of one world: every path of a rank program is mapped below one folder of the launcher's, which is removed with the
// world.
//
//   paths   "run/store", "/tmp/store" and "../store" become three different files of the folder; none leaves it
//   stale   bytes that a file held before this launch began: the launcher notes the sizes then (note_sizes)
#pragma once

#include "backends/os/real_files.h"
#include "core/store/log_file.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim {

class FilesBelow final : public Files {
 public:
  explicit FilesBelow(std::string folder) : folder_(std::move(folder)) {}
  Result<std::unique_ptr<LogFile>> open_log(std::string_view path) override;
  Status write_whole(std::string_view path, std::string_view content) override;
  Result<std::string> read_whole(std::string_view path) override;

  // The real path of `path`.
  std::string place_of(std::string_view path) const;
  // The bytes that earlier launches left in `path`.
  std::int64_t size_before_launch(std::string_view path) const;
  // Called by the launcher, while no rank runs. io_error.
  static Status note_sizes(const std::string& folder);

 private:
  std::string folder_;
  RealFiles files_;
};

}  // namespace pdsim
