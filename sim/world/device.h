// The simulated Device: a chain of points in virtual time, each reached after the one before it. No fiber of its own.
//
//   ends     with its rank: points that are reached later have no waiters
//   cost     O(1) for a kernel, a wait or a call
#pragma once

#include "core/group/device.h"
#include "sim/world/runtime.h"
#include "sim/world_spec.h"

#include <functional>
#include <memory>
#include <vector>

namespace pdsim::sim {

class SimDevice final : public Device {
 public:
  SimDevice(Scheduler& scheduler, const Faults& faults, SimRuntime& runtime, Rank rank);
  void launch(Time cost) override;
  void wait_for(WorkPtr work) override;
  void synchronize_stream() override;
  void synchronize() override;

  // Runs `then` when the current stream has reached this place; at once if it has.
  void here(std::function<void()> then);
  // Adds a collective that runs on a stream of the library's.
  void runs(const WorkPtr& work);

 private:
  struct Point {
    bool reached = false;
    std::vector<std::function<void()>> then;
  };
  using PointPtr = std::shared_ptr<Point>;
  static void reach(const PointPtr& point);
  PointPtr extend();  // appends the stream's new end; returns the previous one
  static void after(const PointPtr& point, std::function<void()> then);
  void wait_until(const PointPtr& point);

  Scheduler& scheduler_;
  const Faults& faults_;
  SimRuntime& runtime_;
  Rank rank_;
  PointPtr end_;
  std::vector<WorkPtr> running_;
};

}  // namespace pdsim::sim
