// The ranks' output, line by line: each line with its rank before it, whole, and never in the middle of another rank's.
//
//   lines   end at a newline; a rank's last output is shown without one too. A line of more than 64 KiB is split into pieces,
//           each a line of its own
//   reader  the reader of our own output may be slow: nothing here blocks, and `full` says when to stop reading from the ranks,
//           which then wait in their own writes. If the reader has left, or the disk is full, the rest is dropped
//   end     `drain` waits for the reader
#pragma once

#include "backends/os/posix.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace pdsim {

// Our end: standard output or standard error.
class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}
  int fd() const { return fd_; }
  void add(std::string_view text) {
    if (!broken_) waiting_ += text;
  }
  bool empty() const { return waiting_.empty(); }
  bool full() const { return waiting_.size() > most_waiting; }
  void flush_some();                                     // as much as possible without waiting
  void drain(const std::function<bool()>& interrupted);  // until all is written, or that returns true
  int error() const { return error_; }                   // why the rest was dropped; 0: it was not, or the reader left

 private:
  static constexpr std::size_t most_waiting = std::size_t{256} << 10;
  int fd_;
  std::string waiting_;
  bool broken_ = false;
  int error_ = 0;
};

// One stream of one rank.
class LineSource {
 public:
  LineSource(Descriptor pipe, std::string prefix) : pipe_(std::move(pipe)), prefix_(std::move(prefix)) {}
  int fd() const { return pipe_.get(); }
  bool open() const { return static_cast<bool>(pipe_); }
  // Reads available output, up to 64 KiB; true when there was any.
  bool service(LineSink& to);
  // Reads all that is left, and the last line without its end; closes.
  void finish(LineSink& to);

 private:
  void tell_lines(LineSink& to);
  Descriptor pipe_;
  std::string prefix_;
  std::string part_;  // of a line
};

}  // namespace pdsim
