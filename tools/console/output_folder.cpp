#include "tools/console/output_folder.h"

#include "backends/os/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace pdsim::tools {

Status prepare_output_folder(const std::string& flag, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
  if (error)
    return Error{Code::input_invalid, fmt::format("cannot write to {} {}: {}", flag, folder, error.message()), {}};
  const fs::path probe = fs::path(folder) / ".pdsim-writable";
  const Status written = write_whole_file(probe.string(), "\n");
  fs::remove(probe, error);
  return written;
}

std::string folder_name_problem(const std::string& text) { return text.empty() ? "the folder has no name" : ""; }

}  // namespace pdsim::tools
