// Runtime: how a rank program reaches time and waiting. One Runtime per rank; every call is made from that rank's own
// fiber (simulated world) or thread (real worlds), except Event::set, which may come from any thread of the world.
#pragma once

#include "core/base/quantity.h"

#include <memory>

namespace pdsim {

// A one-shot latch. wait() parks the calling rank and nobody else.
class Event {
 public:
  virtual ~Event() = default;
  virtual void set() = 0;  // idempotent
  virtual bool is_set() const = 0;
  // True once set; false when `deadline` (absolute, in the runtime's time) passed first. Time::max(): no deadline.
  virtual bool wait(Time deadline) = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  // Virtual time of the simulated world, or time since the rank started for real ones.
  virtual Time now() const = 0;
  virtual void sleep_until(Time t) = 0;
  // Accounts `cost` of local work: the simulated world advances by it (times the rank's slowness); real worlds do
  // nothing, for there the work itself takes its time.
  virtual void compute(Time cost) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
};

}  // namespace pdsim
