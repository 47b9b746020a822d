#include "backends/os/real_runtime.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace pdsim {
namespace {

using Clock = std::chrono::steady_clock;

// Far deadlines stay clear of the clock's own range.
Clock::time_point point_of(Clock::time_point start, Time t) {
  const std::chrono::hours farthest(24 * 365);
  const std::chrono::nanoseconds since(t.ns());
  return start + (since < farthest ? since : farthest);
}

class RealEvent final : public Event {
 public:
  explicit RealEvent(Clock::time_point start) : start_(start) {}
  void set() override {
    const std::lock_guard lock(mutex_);
    set_ = true;
    // Under the lock: a waiter may destroy the event as soon as it has seen it.
    changed_.notify_all();
  }
  bool is_set() const override {
    const std::lock_guard lock(mutex_);
    return set_;
  }
  bool wait(Time deadline) override {
    std::unique_lock lock(mutex_);
    if (deadline == Time::max()) {
      changed_.wait(lock, [this] { return set_; });
      return true;
    }
    return changed_.wait_until(lock, point_of(start_, deadline), [this] { return set_; });
  }

 private:
  const Clock::time_point start_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace

Time RealRuntime::now() const {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
  return {since.count() * 1000};
}

void RealRuntime::sleep_until(Time t) { std::this_thread::sleep_until(point_of(start_, t)); }

std::unique_ptr<Event> RealRuntime::make_event() { return std::make_unique<RealEvent>(start_); }

}  // namespace pdsim
