// LogFile: the append-only file under a FileStore. The real one uses flock; the simulated one outlives a relaunch.
//
//   read_from        bytes from `offset` to the end; waits (up to the deadline) while the file does not exist
//   append           atomically, under the exclusive lock, after `with_tail` has seen the bytes since `offset`; creates
//                    the file
//   wait_for_change  parks until the file may have changed, at the latest 10 ms later (c10d's polling interval)
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pdsim {

// The time at which polling that begins now gives up: c10d and Gloo cut the elapsed time to whole seconds before they compare it,
// so 1 s and 1.5 s both end after 2 s. A timeout of zero never ends.
constexpr Time end_of_polling(Time now, Time timeout) {
  constexpr Time second{1'000'000'000'000};
  if (timeout.ps <= 0) return Time::max();
  const std::int64_t whole = timeout.ps / second.ps + 1;
  return whole > (Time::max() - now).ps / second.ps ? Time::max() : now + second * whole;
}

class LogFile {
 public:
  virtual ~LogFile() = default;
  virtual bool exists() const = 0;
  virtual Result<std::string> read_from(std::int64_t offset, Time deadline) = 0;
  // Calls with_tail(bytes since offset) under the exclusive lock and appends the result (nothing if empty).
  virtual Status append(std::int64_t offset, const std::function<std::string(std::string_view tail)>& with_tail) = 0;
  virtual Time now() const = 0;
  virtual bool wait_for_change(Time deadline) = 0;  // false: the deadline passed
  virtual Status remove() = 0;
};

// Files by path, real or simulated.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::unique_ptr<LogFile>> open_log(std::string_view path) = 0;
  virtual Status write_whole(std::string_view path, std::string_view content) = 0;
  virtual Result<std::string> read_whole(std::string_view path) = 0;
};

}  // namespace pdsim
