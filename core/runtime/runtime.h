// Runtime: a rank program's access to time and waiting. One Runtime per rank; every call is made from that rank's own fiber
// (simulated world) or thread (real worlds), except Event::set, which may be called from any thread of the world.
//
//   threads  the threads that a rank spawns take turns with its program: one of them runs until it waits (an Event, sleep_until,
//            compute, join, while_blocked), so data they share needs no lock. A thread never outlives its RankThread.
#pragma once

#include "core/base/quantity.h"

#include <functional>
#include <memory>

namespace pdsim {

// A one-shot latch. wait() parks only the calling thread of the rank; several may wait.
class Event {
 public:
  virtual ~Event() = default;
  virtual void set() = 0;  // idempotent
  virtual bool is_set() const = 0;
  // True once set; false when `deadline` (absolute, in the runtime's time) passed first. Time::max(): no deadline.
  virtual bool wait(Time deadline) = 0;
  // The same, for a deadline that is a limit and not a plan: the simulated world does not count it as progress, so a rank that
  // waits for nothing else is deadlocked, and learns of it at the deadline.
  virtual bool wait_within(Time deadline) { return wait(deadline); }
};

// A thread of a rank, beside its program.
class RankThread {
 public:
  virtual ~RankThread() = default;  // joins
  virtual void join() = 0;          // waits until it has ended; also while the caller itself is being unwound
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  // Virtual time of the simulated world, or time since the rank started for real ones.
  virtual Time now() const = 0;
  virtual void sleep_until(Time t) = 0;
  // Accounts `cost` of local work: the simulated world advances by it (times the rank's slowness); real worlds do
  // nothing, because the work itself takes the time.
  virtual void compute(Time cost) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  // Starts another thread of this rank, from one of its threads. Null where the runtime only has a clock.
  virtual std::unique_ptr<RankThread> spawn(std::function<void()>) { return nullptr; }
  // Runs `f`, which blocks outside the runtime; the rank's other threads may run meanwhile.
  virtual void while_blocked(const std::function<void()>& f) { f(); }
};

}  // namespace pdsim
