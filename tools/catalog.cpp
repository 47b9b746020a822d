#include "tools/catalog.h"

#include "core/base/nearest.h"
#include "tools/carried/carried_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

// Relative where that is shorter to read: below the current folder, or through its link to the catalog.
std::string shown(const fs::path& file) {
  std::error_code ignored;
  const fs::path below = fs::path("scenarios") / "catalog" / file.filename();
  if (fs::equivalent(below, file, ignored)) return below.string();
  const fs::path relative = file.lexically_relative(fs::current_path(ignored));
  return relative.empty() || *relative.begin() == ".." ? file.string() : relative.string();
}

}  // namespace

Result<std::string> data_folder(const std::string& kind, const std::string& source_folder) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share" / "pdsim" / kind;
  if (!program.empty() && fs::is_directory(installed, ignored)) return installed.string();
  if (carried_files().empty()) return source_folder;
  const Result<std::string> carried = carried_folder();
  if (!carried.ok()) return carried.error();
  return (fs::path(*carried) / kind).string();
}

Result<std::string> catalog_folder() { return data_folder("scenarios", PDSIM_SOURCE_CATALOG); }

std::vector<std::string> catalog_files() {
  std::vector<std::string> files;
  const Result<std::string> folder = catalog_folder();
  if (!folder.ok()) return files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(*folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".yaml") files.push_back(shown(entry->path()));
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> find_scenario(std::string_view argument) {
  const fs::path path = argument;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  if (const Result<std::string> folder = catalog_folder(); !folder.ok()) return folder.error();
  std::vector<std::string> names;
  if (!path.has_parent_path()) {
    for (const std::string& file : catalog_files()) {
      const fs::path known = file;
      if (known.filename() == path || known.stem() == path) return file;
      names.push_back(path.has_extension() ? known.filename().string() : known.stem().string());
    }
  }
  const auto close = nearest(argument, std::span<const std::string>(names));
  const std::string hint = close ? fmt::format("did you mean `{}`?", *close) : "`pdsim list` shows the catalog";
  return Error{Code::input_invalid, fmt::format("there is no scenario file `{}`; {}", argument, hint), {}};
}

}  // namespace pdsim::tools
