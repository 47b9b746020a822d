// This rank in one group of Gloo: two threads that run collectives in the order they were started, and one per message. A caller
// that waits for the next collective runs it itself, so that no work changes threads; the two threads look for collectives
// without a waiter every few hundred microseconds, and are woken when neither is looking.
#pragma once

#include "backends/gloo/gloo_transport.h"
#include "backends/gloo/peers.h"
#include "core/collectives/tuning/algorithm_choice.h"
#include "core/group/backend.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace pdsim {

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(Runtime& runtime, std::shared_ptr<::gloo::Context> context, GlooPeers peers, Time timeout);
  ~GlooCommunicator() override;
  Result<WorkPtr> start(const Collective& call) override;
  void abort(const Error& reason) override;

 private:
  struct Task {
    std::uint64_t number = 0;  // from 1, in the order of the starts
    Collective call{};
    const Algorithm* plan = nullptr;  // null: Gloo's own
    WorkPtr work{};
    std::vector<WorkPtr> earlier{};  // what a barrier waits for first, as c10d's does
  };
  struct Waiter {
    std::jthread thread;  // joined wherever it ends
    std::shared_ptr<std::atomic<bool>> ended;
  };

  Result<WorkPtr> start_message(const Collective& call);
  void run_if_next(std::uint64_t number);
  Task take_next();
  void work_loop();
  bool wait_for_task(std::unique_lock<std::mutex>& lock);  // false: aborted
  void run_to_end(const Task& task);
  Status run_unless_aborted(const Task& task);
  void leave();  // done with Gloo
  Status run(const Task& task);
  bool is_aborted();
  void forget_finished();

  Runtime& runtime_;
  std::shared_ptr<::gloo::Context> context_;
  const GlooPeers peers_;
  GlooTransport transport_;
  AlgorithmProofs proofs_;  // touched by the rank's thread only
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::uint64_t started_ = 0;
  bool somebody_looks_ = false;  // a worker checks the queue now and then
  int at_work_ = 0;              // threads inside Gloo, with the memory of a call
  std::vector<WorkPtr> unfinished_;
  std::optional<Error> aborted_;
  // Last, because their threads use all of the above.
  std::list<Waiter> waiters_;  // of single messages; touched by the rank's thread only
  std::array<std::thread, 2> workers_;
};

}  // namespace pdsim
