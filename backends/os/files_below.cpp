#include "backends/os/files_below.h"

#include "backends/os/whole_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace pdsim {
namespace {

constexpr std::string_view sizes_name = ".sizes";

}  // namespace

// One flat name per path, so that no folder has to be made and nothing climbs out: "run/store" is "run%2Fstore".
std::string FilesBelow::place_of(std::string_view path) const {
  std::string name;
  for (const char c : path) {
    if (c == '/')
      name += "%2F";
    else if (c == '%')
      name += "%25";
    else
      name += c;
  }
  return folder_ + "/file-" + name;
}

Result<std::unique_ptr<LogFile>> FilesBelow::open_log(std::string_view path) { return files_.open_log(place_of(path)); }

Status FilesBelow::write_whole(std::string_view path, std::string_view content) {
  return files_.write_whole(place_of(path), content);
}

Result<std::string> FilesBelow::read_whole(std::string_view path) { return files_.read_whole(place_of(path)); }

Status FilesBelow::note_sizes(const std::string& folder) {
  std::ostringstream lines;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) lines << entry.file_size(ignored) << ' ' << entry.path().string() << '\n';
  return write_whole_file((std::filesystem::path(folder) / sizes_name).string(), lines.str());
}

std::int64_t FilesBelow::size_before_launch(std::string_view path) const {
  const std::string wanted = place_of(path);
  std::ifstream file(std::filesystem::path(folder_) / sizes_name);
  std::int64_t size = 0;
  for (std::string place; file >> size && file.get() != EOF && std::getline(file, place);)
    if (place == wanted) return size;
  return 0;
}

}  // namespace pdsim
