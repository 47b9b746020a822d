#include "sim/world/runtime.h"

namespace pdsim::sim {
namespace {

// A timer that does not outlive the wait it was made for, however the wait ends.
class Timer {
 public:
  Timer(Scheduler& scheduler, Time when, bool is_limit) : scheduler_(scheduler), armed_(when != Time::max()) {
    if (!armed_) return;
    const auto fire = [&scheduler, task = scheduler.current_task(), this] {
      fired_ = true;
      scheduler.wake(task);
    };
    key_ = is_limit ? scheduler.at_watchdog(when, fire) : scheduler.at(when, fire);
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

class SimThread final : public RankThread {
 public:
  SimThread(Scheduler& scheduler, Scheduler::TaskId task) : scheduler_(scheduler), task_(task) {}
  ~SimThread() override { join(); }
  SimThread(const SimThread&) = delete;
  SimThread& operator=(const SimThread&) = delete;
  void join() override { scheduler_.join(task_); }

 private:
  Scheduler& scheduler_;
  Scheduler::TaskId task_;
};

}  // namespace

void SimEvent::set() {
  if (set_) return;
  set_ = true;
  if (!waiting_) return;
  scheduler_.wake(waiter_);
  for (const Scheduler::TaskId task : further_) scheduler_.wake(task);
}

bool SimEvent::wait(Time deadline, bool is_limit) {
  if (set_ || scheduler_.unwinding()) return set_;
  const Timer timer(scheduler_, faults_.real_time(rank_, deadline), is_limit);
  const Scheduler::TaskId me = scheduler_.current_task();
  const bool is_first = !waiting_;
  if (is_first)
    waiter_ = me;
  else
    further_.push_front(me);
  waiting_ = true;
  without_deadline_ = deadline == Time::max();
  while (!set_ && !timer.fired()) scheduler_.park();
  if (!is_first) further_.remove(me);
  if (is_first && further_.empty()) waiting_ = false;
  return set_;
}

void SimRuntime::sleep_until(Time t) {
  const Time until = faults_.real_time(rank_, t);
  if (until <= scheduler_.now() || scheduler_.unwinding()) return;
  const Timer timer(scheduler_, until, false);
  while (!timer.fired()) scheduler_.park();
}

void SimRuntime::compute(Time cost) {
  const Time real = faults_.stretched(cost, rank_, scheduler_.now());
  if (real.ps <= 0 || scheduler_.unwinding()) return;
  const Timer timer(scheduler_, scheduler_.now() + real, false);
  while (!timer.fired()) scheduler_.park();
}

std::unique_ptr<RankThread> SimRuntime::spawn(std::function<void()> body) {
  return std::make_unique<SimThread>(scheduler_, scheduler_.spawn_thread(std::move(body)));
}

}  // namespace pdsim::sim
