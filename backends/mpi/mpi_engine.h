// Makes all MPI calls of this process: one thread at a time, which also drives the operations under way. Unlike a library whose
// calls belong to one thread (backends/engine/polling_engine.h), any waiting thread may drive MPI.
//
//   progress  MPI advances only inside its own calls. A thread that waits for a work drives (help): no hand-over between threads,
//             as when waiting for MPI itself. Where no thread waits, the engine's own thread drives, from some hundred
//             microseconds after a start on: without pause for a while, then with naps (nap_after), so that a hang does not keep a
//             core busy
//   order     starts from one thread keep their order
//   threads   every method from any thread, except `add`, which is for tasks and operations
#pragma once

#include "backends/engine/polled_operations.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace pdsim {

class MpiEngine {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins MPI. Errors: unavailable.
  static Result<std::unique_ptr<MpiEngine>> begin();
  // Ends MPI together with all other ranks, unless it was aborted or something is still in flight.
  ~MpiEngine();

  int world_rank() const { return world_rank_; }
  int world_size() const { return world_size_; }
  int highest_tag() const { return highest_tag_; }

  // Runs `f` where MPI may be called: at once on this thread, or soon on the one that is driving. `f` must check health() before
  // it calls MPI. Called from inside a task or an operation: runs when that is over.
  template <class F>
  void enqueue(F f) {
    if (drives() || !take_over()) {
      push(std::move(f));
    } else {
      run_tasks();
      f();
      hand_back();
    }
    watch();
  }
  // The same, but at once when called from inside a task or an operation.
  template <class F>
  void run(F f) {
    if (drives()) return f();
    enqueue(std::move(f));
  }
  // Runs `f` there, unless the engine was aborted, and waits for it.
  Status call(std::function<Status()> f);
  // Drives until `is_over` or `deadline`, or until nothing has happened for a while: then the engine's thread takes over.
  void help(const std::atomic<bool>& is_over, Clock::time_point deadline);

  Status health() const;  // group_unusable: aborted
  void add(std::unique_ptr<PolledOperation> operation);
  // No MPI call is made from now on; what is in flight gives up with `reason`.
  void abort(const Error& reason);

 private:
  MpiEngine() = default;
  void loop();
  Status initialize();
  bool drives() const { return driver_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  bool take_over() {  // false: another thread drives
    std::thread::id nobody;
    return driver_.compare_exchange_strong(nobody, std::this_thread::get_id());
  }
  void hand_back();
  void push(std::function<void()> task);
  bool run_tasks();
  bool drive(int polls);  // so often, or until something happens; true: it did
  void run_and_wait(const std::function<void()>& f);
  void watch();
  void sleep_until_wanted();
  void drive_for_nobody();
  void end_mpi();

  std::mutex mutex_;  // guards the tasks and the sleep of the engine's thread
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> has_tasks_ = false;
  bool stopping_ = false;
  std::atomic<bool> in_flight_ = false, sleeps_ = false;
  std::atomic<int> helpers_ = 0;
  std::atomic<std::uint64_t> starts_ = 0;
  bool up_ = false;
  std::optional<Status> initialized_;
  std::atomic<std::thread::id> driver_{};  // of all that may call MPI; a lock that nobody waits for
  // Used only by the thread that holds the progress lock.
  PolledOperations operations_;
  int world_rank_ = 0;
  int world_size_ = 1;
  int highest_tag_ = 32767;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pdsim
