#include "backends/os/real_files.h"

#include "backends/os/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pdsim {
namespace {

constexpr Time poll_interval{10'000'000'000};

Error file_error(std::string_view what, std::string_view path) {
  const int number = errno;
  return {Code::io_error,
          fmt::format("cannot {} `{}`: {}", what, path, std::generic_category().message(number)),
          {{"path", std::string(path)}, {"errno", std::to_string(number)}}};
}

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// An open file; closing it also drops its lock.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : fd_(retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); })) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  bool ok() const { return fd_ >= 0; }
  bool lock(int how) {
    return retried([&] { return ::flock(fd_, how); }) == 0;
  }
  bool read_from(std::int64_t offset, std::string& out) {
    std::array<char, 1 << 14> block{};
    while (true) {
      const auto count = retried([&] { return ::pread(fd_, block.data(), block.size(), offset); });
      if (count <= 0) return count == 0;
      out.append(block.data(), static_cast<std::size_t>(count));
      offset += count;
    }
  }
  bool write_at_end(std::string_view bytes) {
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    if (end < 0) return false;
    while (!bytes.empty()) {
      const auto count = retried([&] { return ::write(fd_, bytes.data(), bytes.size()); });
      if (count < 0) {
        const int number = errno;  // a disk that is full must not leave half a record behind
        if (::ftruncate(fd_, end) != 0) return errno = number, false;
        return errno = number, false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  int fd_;
};

class RealLogFile final : public LogFile {
 public:
  explicit RealLogFile(std::string path) : path_(std::move(path)) {}

  bool exists() const override { return ::access(path_.c_str(), F_OK) == 0; }

  Result<std::string> read_from(std::int64_t offset, Time deadline) override {
    while (true) {
      OpenFile file(path_, O_RDONLY);
      if (file.ok()) {
        std::string bytes;
        if (!file.lock(LOCK_SH) || !file.read_from(offset, bytes)) return file_error("read", path_);
        return bytes;
      }
      if (errno != ENOENT) return file_error("open", path_);
      if (!wait_for_change(deadline))
        return Error{Code::store_timeout, fmt::format("`{}` does not exist", path_), {{"path", path_}}};
    }
  }

  Status append(std::int64_t offset, const std::function<std::string(std::string_view)>& with_tail) override {
    OpenFile file(path_, O_RDWR | O_CREAT);
    if (!file.ok()) return file_error("open for writing", path_);
    std::string tail;
    if (!file.lock(LOCK_EX) || !file.read_from(offset, tail)) return file_error("read", path_);
    if (!file.write_at_end(with_tail(tail))) return file_error("write", path_);
    return {};
  }

  Time now() const override {
    const auto since = std::chrono::steady_clock::now() - start_;
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count() * 1000};
  }

  bool wait_for_change(Time deadline) override {
    const Time left = deadline - now();
    if (left.ps <= 0) return false;
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, poll_interval).ns()));
    return true;
  }

  Status remove() override {
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT) return file_error("remove", path_);
    return {};
  }

 private:
  std::string path_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<std::unique_ptr<LogFile>> RealFiles::open_log(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return Error{Code::invalid_argument, "a store file needs a path without NUL bytes", {}};
  return std::unique_ptr<LogFile>(std::make_unique<RealLogFile>(std::string(path)));
}

Status RealFiles::write_whole(std::string_view path, std::string_view content) {
  return write_whole_file(std::string(path), content);
}

Result<std::string> RealFiles::read_whole(std::string_view path) {
  OpenFile file(std::string(path), O_RDONLY);
  if (!file.ok()) return file_error("open", path);
  std::string bytes;
  if (!file.read_from(0, bytes)) return file_error("read", path);
  return bytes;
}

}  // namespace pdsim
