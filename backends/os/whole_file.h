// Files that are there whole or not at all: written beside their places, synced to the disk, then renamed.
//
//   draft   a hidden file of this process in the same folder, gone when the call returns. Signals to this thread wait for that
//   place   links are followed, and the permissions of the file that was there are kept; a device or a pipe is written directly
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

// Files that belong together: none is replaced before all are written. Only a folder that changes in that moment can leave
// the new ones of some beside the old ones of others.
Status write_whole_files(std::span<const WholeFile> files);

// What is wrong with the place of a file that is to be written later: its folder is missing, or it is a folder itself. Empty: nothing.
std::string place_problem(const std::string& path);

}  // namespace pdsim
