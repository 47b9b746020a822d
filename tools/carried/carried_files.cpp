#include "tools/carried/carried_files.h"

#include "core/base/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Folders of this user's, best first; those that do not exist yet can be made.
std::vector<fs::path> places() {
  const std::string own = fmt::format("pdsim-{}", geteuid());
  std::vector<fs::path> all;
  const auto add = [&all](const std::string& below, const fs::path& folder) {
    if (fs::path(below).is_absolute()) all.push_back(below / folder);
  };
  add(variable("XDG_CACHE_HOME"), "pdsim");
  add(variable("HOME"), fs::path(".cache") / "pdsim");
  add(variable("TMPDIR"), own);
  add("/tmp", own);
  std::error_code ignored;
  add(fs::read_symlink("/proc/self/exe", ignored).parent_path().string(), "." + own);
  return all;
}

bool is_ours_alone(const fs::path& folder) {
  struct stat about {};
  return lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_ours(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return is_ours_alone(folder);
}

bool write(const CarriedFile& carried, const fs::path& root) {
  const fs::path path = root / carried.path;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary);
  file.write(carried.content.data(), static_cast<std::streamsize>(carried.content.size()));
  file.close();
  if (carried.executable) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, failed);
  return static_cast<bool>(file);
}

// Whole or not at all: written under another name first.
bool unpack(const fs::path& folder) {
  const fs::path unfinished = folder.string() + fmt::format(".{}", getpid());
  std::error_code failed, ignored;
  bool whole = make_ours(unfinished);
  for (const CarriedFile& carried : carried_files()) whole = whole && write(carried, unfinished);
  if (whole) fs::rename(unfinished, folder, failed);
  if (!whole || failed) fs::remove_all(unfinished, ignored);
  return is_ours_alone(folder);
}

std::string name_of_content() {
  std::uint64_t sum = 0;
  for (const CarriedFile& carried : carried_files()) sum = sum * 31 + digest(carried.path) + digest(carried.content);
  return fmt::format("{}-{:016x}", PDSIM_VERSION, sum);
}

}  // namespace

Result<std::string> carried_folder() {
  if (carried_files().empty()) return Error{Code::unavailable, "this pdsim has no embedded files", {}};
  const std::string name = name_of_content();
  std::vector<std::string> tried;
  for (const fs::path& place : places()) {
    tried.push_back(place.string());
    const fs::path folder = place / name;
    if (is_ours_alone(place) && is_ours_alone(folder)) return folder.string();
    if (make_ours(place) && unpack(folder)) return folder.string();
  }
  return Error{Code::io_error,
               fmt::format("the catalog cannot be unpacked: {} is not writable by this user alone; set XDG_CACHE_HOME "
                           "to a folder that is",
                           fmt::join(tried, ", ")),
               {}};
}

}  // namespace pdsim::tools
