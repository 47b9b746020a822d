// Scheduler: one fiber per rank and per thread that a rank has spawned, virtual time, and the events that advance it.
//
//   order     among ready ranks the Chooser picks; virtual time moves only when no rank can run. Events at one time fire in
//             creation order.
//   progress  ordinary events are progress; watchdog events are not. When only watchdogs are left and a rank is parked,
//             on_deadlock runs once, at that virtual time, and the run continues with the watchdogs.
//   unwinding cancel() makes a rank's next (or current) park throw a private exception that ends its fiber, so that its
//             destructors run; run() cancels the remaining ranks when no rank can make progress.
//   tasks     a rank's program is the task with the rank's number; threads that it spawns have numbers of their own, below
//             no_rank. Cancelling, freezing or thawing a rank applies to all its tasks.
//   threads   everything runs inside run(), on a thread of its own
#pragma once

#include "core/base/quantity.h"
#include "core/base/types.h"
#include "sim/kernel/choose.h"
#include "sim/kernel/events.h"
#include "sim/kernel/stacks.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::sim {

class Scheduler {
 public:
  using Key = EventKey;
  using TaskId = std::int32_t;
  using Action = Callback<>;

  Scheduler(Chooser& chooser, std::size_t stack_bytes);  // size of each rank's fiber stack: whole pages
  ~Scheduler();

  Time now() const { return now_; }
  std::uint64_t events_fired() const { return fired_; }
  Chooser& chooser() { return chooser_; }
  std::uint32_t choose(std::uint32_t n, ChoiceTag tag) { return chooser_.choose(n, tag); }

  template <class Function>
  Key at(Time when, Function&& action) {
    return progress_.add(when < now_ ? now_ : when, next_event_++, std::forward<Function>(action));
  }
  template <class Function>
  Key at_watchdog(Time when, Function&& action) {
    return watchdogs_.add(when < now_ ? now_ : when, next_event_++, std::forward<Function>(action));
  }
  void cancel_event(const Key& key);
  void clear_events();
  Time next_watchdog() { return watchdogs_.empty() ? Time::max() : watchdogs_.first_time(); }
  // Called when no rank can run, before time advances; true: a rank may be able to run again.
  std::function<bool()> before_time_moves;

  // Sets a rank's body; before run().
  void spawn(Rank rank, Action body);
  // Called by a task of a rank: starts another one.
  TaskId spawn_thread(Action body);
  bool has_ended(TaskId thread) const { return find(thread) == nullptr; }
  // Called by a task, even one that is being unwound: waits until the thread has ended.
  void join(TaskId thread);
  // Called by a task: stops it until wake(). Throws the private exception when its rank was cancelled.
  void park();
  void wake(TaskId task);  // no effect on a task that is not parked
  void cancel(Rank rank);
  // A frozen rank is not woken before it thaws.
  void freeze(Rank rank);
  void thaw(Rank rank);
  // Called by a task: ends it here.
  [[noreturn]] void end_current();
  TaskId current_task() const { return current_; }
  Rank current() const;                           // the rank of the current task; no_rank outside
  bool unwinding() const;                         // the current task
  int threads() const { return threads_alive_; }  // of all ranks
  int alive() const { return alive_; }

  // Runs until every rank has ended; `on_deadlock` as above. An exception of a rank or an event, or a failed stack allocation
  // (std::bad_alloc), ends all ranks and is rethrown here.
  void run(const std::function<void()>& on_deadlock);

 private:
  struct Task;
  void start_all();
  void start(Task& task);
  void suspend(Task& task);
  void ends(Task& task);
  template <class Function>
  void for_tasks_of(Rank rank, Function function);
  void loop(const std::function<void()>& on_deadlock);
  void let_ranks_run();
  void cancel_all();
  bool fire_next();

  std::unique_ptr<Task>* slot_of(TaskId id);
  Task* find(TaskId id) const;

  Chooser& chooser_;
  Stacks stacks_;
  Time now_{};
  std::uint64_t next_event_ = 0;
  std::uint64_t fired_ = 0;
  int alive_ = 0;
  int threads_alive_ = 0;
  TaskId current_ = no_rank;
  bool ranks_ready_ = false;
  std::exception_ptr failure_;
  Events progress_, watchdogs_;
  std::vector<std::unique_ptr<Task>> tasks_;    // by rank; null: none runs
  std::vector<std::unique_ptr<Task>> threads_;  // by number, from first_thread down; null: ended
  std::vector<std::unique_ptr<Task>> ended_;
};

}  // namespace pdsim::sim
