// The thread that makes every MPI call of this process, and drives what is in flight.
//
//   progress  MPI advances only inside its own calls, so the thread tests what is in flight, over and over: without pause for
//             a while, then with short naps, so that a hang does not keep a core busy
//   threads   every method from any thread, but `add` from the engine's own
#pragma once

#include "core/base/result.h"

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
  // Something in flight; both are called on the engine's thread.
  class Operation {
   public:
    virtual ~Operation() = default;
    virtual bool poll() = 0;  // true: it has ended
    // MPI is not called any more: end with `reason`.
    virtual void give_up(const Error& reason) = 0;
  };

  // Begins MPI. Errors: unavailable.
  static Result<std::unique_ptr<MpiEngine>> begin();
  // Ends MPI together with all other ranks, unless it was broken off or something is still in flight.
  ~MpiEngine();

  int world_rank() const { return world_rank_; }
  int world_size() const { return world_size_; }
  int highest_tag() const { return highest_tag_; }

  // Runs `f` on the engine's thread, in the order of the calls. It must ask health() before it calls MPI.
  void enqueue(std::function<void()> f);
  // The same, but at once when called on that thread.
  void run(std::function<void()> f);
  // Runs `f` there, unless broken off, and waits for it.
  Status call(std::function<Status()> f);
  Status health() const;  // group_unusable: broken off
  void add(std::unique_ptr<Operation> operation);
  // No MPI call is made from now on; what is in flight gives up with `reason`.
  void break_off(const Error& reason);

 private:
  MpiEngine() = default;
  void loop();
  Status initialize();
  bool take_tasks(std::vector<std::function<void()>>& tasks);
  bool poll_all();
  void end_mpi();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::atomic<bool> broken_ = false;
  bool up_ = false;
  std::optional<Status> initialized_;
  // Of the engine's thread only.
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<Operation>> added_;
  std::chrono::steady_clock::time_point last_news_{};
  int world_rank_ = 0;
  int world_size_ = 1;
  int highest_tag_ = 32767;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pdsim
