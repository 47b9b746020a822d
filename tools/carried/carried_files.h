// Files inside the executable of a portable build (PDSIM_PORTABLE): the catalog, the labs, example plans and the Python part of
// `run`. Other builds carry none.
//
//   where    unpacked on first use into a folder of this user's, named by the version and the content: $XDG_CACHE_HOME/pdsim,
//            ~/.cache/pdsim, $TMPDIR, /tmp, or beside the executable, the first that can be written
//   safety   a folder that another user owns or can write is not used
//   several  processes may unpack at the same time; one folder appears, complete
#pragma once

#include "core/base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace pdsim::tools {

struct CarriedFile {
  std::string_view path;  // below the folder they are carried into
  std::string_view content;
  bool executable = false;
};

std::span<const CarriedFile> carried_files();

// Sets up a statically linked process; call it first: host names are looked up in /etc/hosts and by DNS with code inside the
// executable, as modules of the system's own C library cannot be loaded into another one. Other builds do nothing.
void prepare_process();

// The folder with the carried files. Errors: unavailable where nothing is carried; io_error, naming the folders that were tried.
Result<std::string> carried_folder();

}  // namespace pdsim::tools
