// The simulated Runtime: virtual time as the rank's own clock shows it, and parking on the scheduler.
#pragma once

#include "core/runtime/runtime.h"
#include "sim/faults.h"
#include "sim/scheduler.h"

namespace pdsim::sim {

class SimRuntime final : public Runtime {
 public:
  SimRuntime(Scheduler& scheduler, const Faults& faults, Rank rank)
      : scheduler_(scheduler), faults_(faults), rank_(rank) {}
  Time now() const override { return faults_.local_time(rank_, scheduler_.now()); }
  void sleep_until(Time t) override;
  void compute(Time cost) override;
  std::unique_ptr<Event> make_event() override;

 private:
  Scheduler& scheduler_;
  const Faults& faults_;
  Rank rank_;
};

}  // namespace pdsim::sim
