#include "backends/os/whole_file.h"

#include "backends/os/posix.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const std::string& path, int number) {
  return {Code::io_error,
          fmt::format("cannot write {}: {}", path, std::generic_category().message(number)),
          {{"path", path}, {"errno", std::to_string(number)}}};
}

class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t former_{};
};

// 0, or the errno of what failed.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

// A file system that cannot sync has written when it closes.
int sync_and_close(Descriptor fd) {
  const int synced = ::fsync(fd.get()) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  const int closed = ::close(fd.release()) == 0 || errno == EINTR ? 0 : errno;
  return synced != 0 ? synced : closed;
}

struct Place {
  std::string target;  // where links lead
  mode_t mode = 0644;
  bool direct = false;  // not a file: it cannot be replaced
};

// 0, or the errno of why nothing can be written there.
int find_place(const std::string& path, Place& place) {
  struct stat about {};
  place.target = path;
  if (::stat(path.c_str(), &about) != 0) {
    const int why = errno;
    std::error_code failed;
    if (const fs::path link = fs::read_symlink(path, failed); !failed)  // to what is not there yet
      place.target = (fs::path(path).parent_path() / link).string();
    return why == ENOENT ? 0 : why;
  }
  if (S_ISDIR(about.st_mode)) return EISDIR;
  place.direct = !S_ISREG(about.st_mode);
  if (place.direct) return 0;
  if (::access(path.c_str(), W_OK) != 0) return errno;
  place.mode = about.st_mode & 07777;
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (!failed) place.target = real.string();
  return failed.value();
}

// Removes itself unless it was renamed.
class Draft {
 public:
  Draft(const std::string& target, std::size_t index)
      : path_((fs::path(target).parent_path() / fmt::format(".pdsim-{}-{}.part", ::getpid(), index)).string()) {}
  ~Draft() {
    if (made_) ::unlink(path_.c_str());
  }
  Draft(Draft&& o) noexcept : path_(std::move(o.path_)), made_(std::exchange(o.made_, false)) {}
  Draft& operator=(Draft&&) = delete;

  int write(std::string_view content, mode_t mode, bool keep_mode) {
    Descriptor fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd) return errno;
    made_ = true;
    if (keep_mode && ::fchmod(fd.get(), mode) != 0) return errno;
    if (const int failed = write_all(fd.get(), content); failed != 0) return failed;
    return sync_and_close(std::move(fd));
  }
  int move_to(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
    made_ = false;
    return 0;
  }

 private:
  std::string path_;
  bool made_ = false;
};

int write_directly(const std::string& path, std::string_view content) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  if (const int failed = write_all(fd.get(), content); failed != 0) return failed;
  return sync_and_close(std::move(fd));
}

}  // namespace

Status write_whole_file(const std::string& path, std::string_view content) {
  const WholeFile file{path, std::string(content)};
  return write_whole_files(std::span(&file, 1));
}

Status write_whole_files(std::span<const WholeFile> files) {
  std::vector<Place> places(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (const int failed = find_place(files[i].path, places[i]); failed != 0)
      return cannot_write(files[i].path, failed);
    if (!places[i].direct) continue;
    if (const int failed = write_directly(files[i].path, files[i].content); failed != 0)
      return cannot_write(files[i].path, failed);
  }
  const SignalsWait until_no_draft_is_left;
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    drafts.emplace_back(places[i].target, i);
    if (places[i].direct) continue;
    const bool replaces = ::access(places[i].target.c_str(), F_OK) == 0;
    if (const int failed = drafts[i].write(files[i].content, places[i].mode, replaces); failed != 0)
      return cannot_write(files[i].path, failed);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (places[i].direct) continue;
    if (const int failed = drafts[i].move_to(places[i].target); failed != 0) return cannot_write(files[i].path, failed);
  }
  return {};
}

std::string place_problem(const std::string& path) {
  std::error_code failed;
  if (path.empty()) return "the file has no name";
  if (fs::is_directory(path, failed)) return fmt::format("{} is a folder; name a file", path);
  const fs::path folder = fs::path(path).parent_path();
  if (folder.empty() || fs::is_directory(folder, failed)) return {};
  return fmt::format("cannot write {}: there is no folder {}", path, folder.string());
}

}  // namespace pdsim
