// The simulated Runtime: virtual time as the rank's own clock shows it, and parking on the scheduler.
#pragma once

#include "core/runtime/runtime.h"
#include "sim/kernel/scheduler.h"
#include "sim/network/faults.h"

#include <forward_list>

namespace pdsim::sim {

class SimEvent final : public Event {
 public:
  SimEvent(Scheduler& scheduler, const Faults& faults, Rank rank)
      : scheduler_(scheduler), faults_(faults), rank_(rank) {}
  void set() override;
  bool is_set() const override { return set_; }
  bool wait(Time deadline) override { return wait(deadline, false); }
  bool wait_within(Time deadline) override { return wait(deadline, true); }
  // True if the rank is parked here, without a deadline, and has no other thread.
  bool holds_its_rank() const { return waiting_ && without_deadline_ && scheduler_.threads() == 0; }

 private:
  bool wait(Time deadline, bool is_limit);
  Scheduler& scheduler_;
  const Faults& faults_;
  Rank rank_;
  bool set_ = false;
  bool waiting_ = false;
  bool without_deadline_ = false;
  Scheduler::TaskId waiter_ = no_rank;  // nearly always the only one
  std::forward_list<Scheduler::TaskId> further_;
};

class SimRuntime final : public Runtime {
 public:
  SimRuntime(Scheduler& scheduler, const Faults& faults, Rank rank)
      : scheduler_(scheduler), faults_(faults), rank_(rank) {}
  Time now() const override { return faults_.local_time(rank_, scheduler_.now()); }
  void sleep_until(Time t) override;
  void compute(Time cost) override;
  std::unique_ptr<Event> make_event() override { return make_sim_event(); }
  std::unique_ptr<RankThread> spawn(std::function<void()> body) override;
  std::unique_ptr<SimEvent> make_sim_event() { return std::make_unique<SimEvent>(scheduler_, faults_, rank_); }

 private:
  Scheduler& scheduler_;
  const Faults& faults_;
  Rank rank_;
};

}  // namespace pdsim::sim
