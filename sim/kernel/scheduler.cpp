#include "sim/kernel/scheduler.h"

#include "core/base/check.h"

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <thread>

namespace pdsim::sim {
namespace {

struct Unwind {};  // ends a task's fiber

constexpr Scheduler::TaskId first_thread = no_rank - 1;

std::size_t place_of(Scheduler::TaskId thread) { return static_cast<std::size_t>(first_thread - thread); }

// Ranks run before anything else; the main fiber (the clock) only when no rank can; Boost's dispatcher only when even the
// main fiber waits, so that it does not double the number of switches.
class RanksFirst final : public boost::fibers::algo::algorithm {
 public:
  explicit RanksFirst(Chooser* chooser) : chooser_(chooser) {}

  void awakened(boost::fibers::context* context) noexcept override {
    if (context->is_context(boost::fibers::type::dispatcher_context)) {
      dispatcher_ = context;
    } else if (context->is_context(boost::fibers::type::main_context)) {
      main_ = context;
    } else {
      ready_.push_back(context);
    }
  }

  boost::fibers::context* pick_next() noexcept override {
    if (!ready_.empty()) {
      const std::uint32_t pick = chooser_->choose(static_cast<std::uint32_t>(ready_.size()), ChoiceTag::run);
      boost::fibers::context* next = ready_[pick];
      ready_.erase(ready_.begin() + pick);
      return next;
    }
    if (main_ != nullptr) return std::exchange(main_, nullptr);
    return std::exchange(dispatcher_, nullptr);
  }

  bool has_ready_fibers() const noexcept override { return !ready_.empty() || main_ != nullptr; }
  void suspend_until(const std::chrono::steady_clock::time_point&) noexcept override {}
  void notify() noexcept override {}

 private:
  Chooser* chooser_;
  std::deque<boost::fibers::context*> ready_;
  boost::fibers::context* main_ = nullptr;
  boost::fibers::context* dispatcher_ = nullptr;
};

}  // namespace

struct Scheduler::Task {
  TaskId id = no_rank;
  Rank rank = no_rank;
  Action body;
  boost::fibers::fiber fiber;
  boost::fibers::context* parked = nullptr;
  bool cancelled = false;
  bool frozen = false;
  bool woken_while_frozen = false;
  bool unwinding = false;
  bool joins = false;  // is parked in join()
  std::vector<TaskId> joined_by{};
};

Scheduler::Scheduler(Chooser& chooser, std::size_t stack_bytes) : chooser_(chooser), stacks_(stack_bytes) {}
Scheduler::~Scheduler() = default;

std::unique_ptr<Scheduler::Task>* Scheduler::slot_of(TaskId id) {
  auto& list = id >= 0 ? tasks_ : threads_;
  const std::size_t index = id >= 0 ? static_cast<std::size_t>(id) : place_of(id);
  return id != no_rank && index < list.size() ? &list[index] : nullptr;
}

Scheduler::Task* Scheduler::find(TaskId id) const {
  const std::unique_ptr<Task>* slot = const_cast<Scheduler*>(this)->slot_of(id);
  return slot != nullptr ? slot->get() : nullptr;
}

template <class Function>
void Scheduler::for_tasks_of(Rank rank, Function function) {
  if (Task* program = find(rank)) function(*program);
  if (threads_alive_ == 0) return;
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i] && threads_[i]->rank == rank) function(*threads_[i]);
}

void Scheduler::cancel_event(const Key& key) {
  if (!progress_.remove(key)) watchdogs_.remove(key);
}

void Scheduler::spawn(Rank rank, Action body) {
  PDSIM_CHECK(rank >= 0 && find(rank) == nullptr, "a rank is spawned while it is still running");
  if (tasks_.size() <= static_cast<std::size_t>(rank)) tasks_.resize(static_cast<std::size_t>(rank) + 1);
  auto task = std::make_unique<Task>();
  task->id = task->rank = rank;
  task->body = std::move(body);
  tasks_[static_cast<std::size_t>(rank)] = std::move(task);
  ++alive_;
}

Scheduler::TaskId Scheduler::spawn_thread(Action body) {
  auto task = std::make_unique<Task>();
  const TaskId id = first_thread - static_cast<TaskId>(threads_.size());
  task->id = id;
  task->rank = current();
  task->body = std::move(body);
  start(*task);
  threads_.push_back(std::move(task));
  ++alive_;
  ++threads_alive_;
  ranks_ready_ = true;
  return id;
}

void Scheduler::join(TaskId thread) {
  Task& me = *find(current_);
  while (Task* task = find(thread)) {
    task->joined_by.push_back(me.id);
    me.joins = true;
    suspend(me);
    me.joins = false;
  }
}

void Scheduler::ends(Task& task) {
  for (const TaskId waiter : task.joined_by) wake(waiter);
  --alive_;
  if (task.id < 0) --threads_alive_;
  ended_.push_back(std::move(*slot_of(task.id)));
}

void Scheduler::start(Task& task) {
  const auto body = [this, &task] {
    current_ = task.id;
    try {
      if (!task.cancelled) task.body();
    } catch (const Unwind&) {
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
    current_ = no_rank;
    ends(task);
  };
  task.fiber = boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, stacks_, body);
}

void Scheduler::suspend(Task& task) {
  boost::fibers::context* self = boost::fibers::context::active();
  task.parked = self;
  current_ = no_rank;
  self->suspend();
  current_ = task.id;
  task.parked = nullptr;
}

void Scheduler::park() {
  Task& task = *find(current_);
  if (task.unwinding) return;
  if (!task.cancelled) suspend(task);
  if (task.cancelled) end_current();
}

Rank Scheduler::current() const {
  const Task* task = find(current_);
  return task != nullptr ? task->rank : no_rank;
}

void Scheduler::end_current() {
  find(current_)->unwinding = true;
  throw Unwind{};
}

bool Scheduler::unwinding() const {
  const Task* task = find(current_);
  return task != nullptr && (task->unwinding || task->cancelled);
}

void Scheduler::wake(TaskId id) {
  Task* task = find(id);
  if (task == nullptr || task->parked == nullptr) return;
  if (task->frozen && !task->cancelled) {
    task->woken_while_frozen = true;
    return;
  }
  ranks_ready_ = true;
  boost::fibers::context::active()->schedule(std::exchange(task->parked, nullptr));
}

void Scheduler::freeze(Rank rank) {
  for_tasks_of(rank, [](Task& task) { task.frozen = true; });
}

void Scheduler::thaw(Rank rank) {
  for_tasks_of(rank, [this](Task& task) {
    task.frozen = false;
    if (std::exchange(task.woken_while_frozen, false)) wake(task.id);
  });
}

void Scheduler::clear_events() {
  progress_.clear();
  watchdogs_.clear();
}

void Scheduler::cancel(Rank rank) {
  for_tasks_of(rank, [this](Task& task) {
    task.cancelled = true;
    if (!task.joins) wake(task.id);
  });
}

bool Scheduler::fire_next() {
  // Watchdogs that are due before the next ordinary event fire in their turn, also while the program makes progress.
  const bool watchdog = !watchdogs_.empty() && (progress_.empty() || watchdogs_.comes_before(progress_));
  Events& source = watchdog ? watchdogs_ : progress_;
  if (source.empty()) return false;
  now_ = source.first_time();
  const Action action = source.take_first();
  ++fired_;
  action();
  return true;
}

// Until no rank can run.
void Scheduler::let_ranks_run() {
  ranks_ready_ = false;
  boost::this_fiber::yield();
  for (const std::unique_ptr<Task>& task : ended_) task->fiber.join();
  ended_.clear();
}

void Scheduler::loop(const std::function<void()>& on_deadlock) {
  bool deadlock_told = false;
  while (alive_ > 0) {
    if (ranks_ready_) let_ranks_run();
    if (alive_ == 0) break;
    if (failure_) {
      cancel_all();
      continue;
    }
    const bool same_time = !progress_.empty() && progress_.first_time() == now_;
    if (!same_time && before_time_moves && before_time_moves()) continue;
    if (progress_.empty() && !deadlock_told) {
      deadlock_told = true;
      on_deadlock();
    }
    if (fire_next()) continue;
    cancel_all();
  }
}

void Scheduler::cancel_all() {
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    if (tasks_[i]) cancel(tasks_[i]->rank);
}

// A rank whose stack cannot be had takes the others with it: none of them has run yet.
void Scheduler::start_all() {
  for (std::unique_ptr<Task>& task : tasks_) {
    if (!task) continue;
    try {
      if (!failure_) start(*task);
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
    if (!failure_) continue;
    task->cancelled = true;
    if (task->fiber.joinable()) continue;
    task.reset();
    --alive_;
  }
  if (failure_)
    for (const std::unique_ptr<Task>& task : tasks_)
      if (task) task->cancelled = true;
}

void Scheduler::run(const std::function<void()>& on_deadlock) {
  // The scheduling algorithm is installed per thread, so every run has a thread of its own.
  std::thread([&] {
    boost::fibers::use_scheduling_algorithm<RanksFirst>(&chooser_);
    start_all();
    ranks_ready_ = true;
    while (alive_ > 0) {
      try {
        loop(on_deadlock);
      } catch (const std::exception&) {  // of an event; the ranks' own are kept by their fibers
        failure_ = std::current_exception();
      }
    }
  }).join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace pdsim::sim
