#include "sim/world/runtime.h"

namespace pdsim::sim {
namespace {

// A timer that does not outlive the wait it was made for, however the wait ends.
class Timer {
 public:
  Timer(Scheduler& scheduler, Time when, Rank rank) : scheduler_(scheduler), armed_(when != Time::max()) {
    if (armed_)
      key_ = scheduler.at(when, [&scheduler, rank, this] {
        fired_ = true;
        scheduler.wake(rank);
      });
  }
  ~Timer() {
    if (armed_ && !fired_) scheduler_.cancel_event(key_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  bool fired() const { return fired_; }

 private:
  Scheduler& scheduler_;
  bool armed_;
  bool fired_ = false;
  Scheduler::Key key_{};
};

}  // namespace

void SimEvent::set() {
  if (set_) return;
  set_ = true;
  if (waiting_) scheduler_.wake(rank_);
}

bool SimEvent::wait(Time deadline) {
  if (set_ || scheduler_.unwinding(rank_)) return set_;
  const Timer timer(scheduler_, faults_.real_time(rank_, deadline), rank_);
  waiting_ = true;
  for_ever_ = deadline == Time::max();
  while (!set_ && !timer.fired()) scheduler_.park();
  waiting_ = false;
  return set_;
}

void SimRuntime::sleep_until(Time t) {
  const Time until = faults_.real_time(rank_, t);
  if (until <= scheduler_.now() || scheduler_.unwinding(rank_)) return;
  const Timer timer(scheduler_, until, rank_);
  while (!timer.fired()) scheduler_.park();
}

void SimRuntime::compute(Time cost) {
  const Time real = faults_.stretched(cost, rank_, scheduler_.now());
  if (real.ps <= 0 || scheduler_.unwinding(rank_)) return;
  const Timer timer(scheduler_, scheduler_.now() + real, rank_);
  while (!timer.fired()) scheduler_.park();
}

}  // namespace pdsim::sim
