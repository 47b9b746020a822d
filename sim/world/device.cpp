#include "sim/world/device.h"

#include <algorithm>
#include <utility>

namespace pdsim::sim {

SimDevice::SimDevice(Scheduler& scheduler, const Faults& faults, SimRuntime& runtime, Rank rank)
    : scheduler_(scheduler), faults_(faults), runtime_(runtime), rank_(rank), end_(std::make_shared<Point>()) {
  end_->reached = true;
}

void SimDevice::reach(const PointPtr& point) {
  point->reached = true;
  for (const auto& then : std::exchange(point->then, {})) then();
}

void SimDevice::after(const PointPtr& point, std::function<void()> then) {
  if (point->reached) return then();
  point->then.push_back(std::move(then));
}

SimDevice::PointPtr SimDevice::extend() { return std::exchange(end_, std::make_shared<Point>()); }

void SimDevice::launch(Time cost) {
  const PointPtr before = extend();
  after(before, [this, cost, end = end_] {
    const Time took = faults_.stretched(cost, rank_, scheduler_.now());
    scheduler_.at(scheduler_.now() + took, [end] { reach(end); });
  });
}

void SimDevice::wait_for(WorkPtr work) {
  const PointPtr before = extend();
  after(before, [work = std::move(work), end = end_] { work->on_done([end](const Status&) { reach(end); }); });
}

void SimDevice::here(std::function<void()> then) { after(end_, std::move(then)); }

void SimDevice::runs(const WorkPtr& work) {
  running_.erase(std::remove_if(running_.begin(), running_.end(), [](const WorkPtr& w) { return w->done(); }),
                 running_.end());
  running_.push_back(work);
}

void SimDevice::wait_until(const PointPtr& point) {
  if (point->reached) return;
  const std::shared_ptr<SimEvent> event = runtime_.make_sim_event();
  after(point, [event] { event->set(); });
  event->wait(Time::max());
}

void SimDevice::synchronize_stream() { wait_until(end_); }

void SimDevice::synchronize() {
  wait_until(end_);
  for (const WorkPtr& work : std::exchange(running_, {})) (void)work->wait();
}

}  // namespace pdsim::sim
