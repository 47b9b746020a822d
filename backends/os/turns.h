// The turns of the threads of one rank (core/runtime/runtime.h): as with Python's interpreter lock, and the fibers of the
// simulated world, one of them runs until it waits.
//
//   threads  every method from any thread; only the thread that has the turn gives it up
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace pdsim {

class Turns {
 public:
  void take() {
    mutex_.lock();
    holder_ = std::this_thread::get_id();
  }
  void give() {
    holder_ = std::thread::id{};
    mutex_.unlock();
  }
  bool mine() const { return holder_.load() == std::this_thread::get_id(); }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_{};
};

// For the time the caller waits: gives up its turn, if it has it, and takes it back at the end.
class TurnGiven {
 public:
  explicit TurnGiven(Turns& turns) : turns_(turns), had_(turns.mine()) {
    if (had_) turns_.give();
  }
  ~TurnGiven() {
    if (had_) turns_.take();
  }
  TurnGiven(const TurnGiven&) = delete;
  TurnGiven& operator=(const TurnGiven&) = delete;

 private:
  Turns& turns_;
  bool had_;
};

}  // namespace pdsim
