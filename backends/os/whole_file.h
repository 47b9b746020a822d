// Files that exist whole or not at all: written next to their places, synced to the disk, then renamed.
//
//   draft   a hidden file of this process in the same folder, removed when the call returns. Signals to this thread wait until
//           then
//   place   links are followed, and the permissions of an existing file are kept; a device or a pipe is written directly
//   errors  io_error, "cannot write PATH: reason", with the facts path and errno
#pragma once

#include "core/base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace pdsim {

struct WholeFile {
  std::string path;
  std::string content;
};

// Writes all of `content`; after an error the file is as it was.
Status write_whole_file(const std::string& path, std::string_view content);

// Files that belong together: none is replaced before all are written. Only a change of a folder at that moment can leave the new
// ones of some beside the old ones of others.
Status write_whole_files(std::span<const WholeFile> files);

// Why a file cannot be written there later: its folder is missing, or it is a folder itself. Empty: it can.
std::string place_problem(const std::string& path);

}  // namespace pdsim
