// The one place where Gloo's exceptions become pdsim's errors.
#pragma once

#include "core/base/result.h"

#include <chrono>
#include <exception>
#include <utility>

namespace pdsim {

// Carries a pdsim error through Gloo's own frames (a store that Gloo calls back); converted back unchanged.
class CarriedError final : public std::exception {
 public:
  explicit CarriedError(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

// Inside a catch block only. Gloo has no type per cause, so its texts decide; what is not known is `internal`, with the text.
Error error_of_current_exception();

// Runs `f`, which returns Status and may throw.
template <class F>
Status guarded(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    return error_of_current_exception();
  }
}

// Gloo takes whole milliseconds; rounded up, at least one, at most a month.
std::chrono::milliseconds gloo_timeout(std::int64_t picoseconds);

}  // namespace pdsim
