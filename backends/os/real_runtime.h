// The Runtime of a rank that is a real process or thread: the steady clock, and events that park a thread.
//
//   now      time since the runtime was created, or since `start`: processes of one machine share the steady clock, so ranks that
//            get the launcher's start have one time scale
//   compute  does nothing: the work itself takes its time
//   threads  events may be set and awaited from any thread of the process; the rank's own take turns from the first spawn on
#pragma once

#include "backends/os/turns.h"
#include "core/runtime/runtime.h"

#include <chrono>
#include <memory>

namespace pdsim {

class RealRuntime final : public Runtime {
 public:
  explicit RealRuntime(std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now())
      : start_(start) {}
  std::chrono::steady_clock::time_point start() const { return start_; }
  void restart(std::chrono::steady_clock::time_point start) { start_ = start; }  // while no thread reads the time
  Time now() const override;
  void sleep_until(Time t) override;
  void compute(Time) override {}
  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<RankThread> spawn(std::function<void()> body) override;
  void while_blocked(const std::function<void()>& f) override;

 private:
  std::chrono::steady_clock::time_point start_;
  std::shared_ptr<Turns> turns_ = std::make_shared<Turns>();  // shared with the events
};

}  // namespace pdsim
