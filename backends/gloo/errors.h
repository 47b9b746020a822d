// Converts Gloo's exceptions to pdsim's errors, for all callers.
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

// Call it inside a catch block only. Gloo has no type per cause, so its texts decide; an unknown text gives `internal` with that
// text.
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

// Gloo takes whole milliseconds; rounds up, to at least one and at most a month.
std::chrono::milliseconds gloo_timeout(std::int64_t picoseconds);

}  // namespace pdsim
