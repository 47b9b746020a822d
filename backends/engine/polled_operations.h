// PolledOperations: what a library that has to be polled works on in this process, until each ends or all are aborted.
//
//   abort    once: everything in flight ends with the reason, and nothing is polled from then on
//   threads  aborted() from any thread; the rest from the one that calls the library
#pragma once

#include "core/base/result.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace pdsim {

// How long the thread that polls sleeps between two looks, by the time since something has happened: not at all for 20 ms, then for a
// hundredth of that time, at most 5 ms. So an operation ends at most one per cent late, and a hang of five seconds costs about a
// thousand looks.
std::chrono::microseconds nap_after(std::chrono::steady_clock::duration quiet);

class PolledOperation {
 public:
  virtual ~PolledOperation() = default;
  virtual bool poll() = 0;  // true: it has ended
  // The library is not called any more: end with `reason`.
  virtual void abort(const Error& reason) = 0;
};

class PolledOperations {
 public:
  // Also from inside poll(): it is polled the next time.
  void add(std::unique_ptr<PolledOperation> operation) { added_.push_back(std::move(operation)); }
  bool has_added() const { return !added_.empty(); }  // since the last poll()
  bool empty() const { return operations_.empty() && added_.empty(); }
  // Each once, in the order in which they were added; true: one has ended. False when they were aborted meanwhile.
  bool poll();
  void abort(const Error& reason);
  bool aborted() const { return aborted_; }

 private:
  std::atomic<bool> aborted_ = false;
  std::vector<std::unique_ptr<PolledOperation>> operations_;
  std::vector<std::unique_ptr<PolledOperation>> added_;
};

}  // namespace pdsim
