#include "backends/os/real_runtime.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

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
  RealEvent(Clock::time_point start, std::shared_ptr<Turns> turns) : start_(start), turns_(std::move(turns)) {}
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
    const TurnGiven meanwhile(*turns_);
    std::unique_lock lock(mutex_);
    if (deadline == Time::max()) {
      changed_.wait(lock, [this] { return set_; });
      return true;
    }
    return changed_.wait_until(lock, point_of(start_, deadline), [this] { return set_; });
  }

 private:
  const Clock::time_point start_;
  const std::shared_ptr<Turns> turns_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

class RealThread final : public RankThread {
 public:
  RealThread(std::shared_ptr<Turns> turns, std::function<void()> body)
      : turns_(std::move(turns)), thread_([&turns = *turns_, body = std::move(body)] {
          turns.take();
          body();
          turns.give();
        }) {}
  ~RealThread() override { join(); }
  RealThread(const RealThread&) = delete;
  RealThread& operator=(const RealThread&) = delete;
  void join() override {
    const TurnGiven meanwhile(*turns_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::shared_ptr<Turns> turns_;
  std::thread thread_;
};

}  // namespace

Time RealRuntime::now() const {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
  return {since.count() * 1000};
}

void RealRuntime::sleep_until(Time t) {
  const TurnGiven meanwhile(*turns_);
  std::this_thread::sleep_until(point_of(start_, t));
}

void RealRuntime::while_blocked(const std::function<void()>& f) {
  const TurnGiven meanwhile(*turns_);
  f();
}

std::unique_ptr<RankThread> RealRuntime::spawn(std::function<void()> body) {
  if (!turns_->mine()) turns_->take();  // the first: from now on the program has it, but while it waits
  return std::make_unique<RealThread>(turns_, std::move(body));
}

std::unique_ptr<Event> RealRuntime::make_event() { return std::make_unique<RealEvent>(start_, turns_); }

}  // namespace pdsim
