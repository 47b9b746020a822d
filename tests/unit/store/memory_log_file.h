// A LogFile in memory whose clock moves only by waiting, so that timeouts of minutes cost nothing and are exact.
#pragma once

#include "core/store/log_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace pdsim::testing {

struct MemoryFile {
  std::optional<std::string> bytes;  // absent: the file does not exist
  Time now{};
};

class MemoryLogFile : public LogFile {
 public:
  explicit MemoryLogFile(MemoryFile& file) : file_(file) {}
  bool exists() const override { return file_.bytes.has_value(); }
  Result<std::string> read_from(std::int64_t offset, Time deadline) override {
    while (!file_.bytes)
      if (!wait_for_change(deadline)) return Error{Code::store_timeout, "no such file", {}};
    return tail(offset);
  }
  Status append(std::int64_t offset, const std::function<std::string(std::string_view)>& with_tail) override {
    if (!file_.bytes) file_.bytes.emplace();
    *file_.bytes += with_tail(tail(offset));
    return {};
  }
  Time now() const override { return file_.now; }
  bool wait_for_change(Time deadline) override {
    if (file_.now >= deadline) return false;
    file_.now = std::min(deadline, file_.now + Time{10'000'000'000});
    return true;
  }
  Status remove() override {
    file_.bytes.reset();
    return {};
  }

 private:
  std::string tail(std::int64_t offset) const {
    const auto begin = std::min(static_cast<std::size_t>(offset), file_.bytes->size());
    return file_.bytes->substr(begin);
  }
  MemoryFile& file_;
};

}  // namespace pdsim::testing
