// One line on standard error with the progress of long work: count, rate, time left. Only where standard error is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace pdsim::tools {

class Progress {
 public:
  Progress(std::int64_t total, std::string_view unit);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::int64_t done, std::string_view doing);
  void clear();

 private:
  std::int64_t total_;
  std::string_view unit_;
  bool shown_ = false;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace pdsim::tools
