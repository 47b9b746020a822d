// ServerPool: the threads of a worker that run others' requests. They are started as needed, up to a limit: beyond it a job waits
// until one is free, even when all of them wait for something that only such a job can provide.
#pragma once

#include "core/runtime/runtime.h"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace pdsim {

class ServerPool {
 public:
  using Job = std::function<void(int server)>;  // `server`: the thread that runs it, from 0
  ServerPool(Runtime& runtime, int limit) : runtime_(runtime), limit_(limit) {}
  ~ServerPool() { stop(); }
  ServerPool(const ServerPool&) = delete;
  ServerPool& operator=(const ServerPool&) = delete;

  void run(Job job);
  int limit() const { return limit_; }
  int busy() const { return busy_; }
  bool idle() const { return busy_ == 0 && queue_.empty(); }
  // Drops waiting jobs, and returns when the running ones have ended.
  void stop();
  std::function<void()> on_idle;

 private:
  void serve(int server);

  Runtime& runtime_;
  int limit_;
  int busy_ = 0;
  bool stopping_ = false;
  std::deque<Job> queue_;
  std::deque<std::shared_ptr<Event>> resting_;  // one for each thread that waits for a job
  std::vector<std::unique_ptr<RankThread>> threads_;
};

}  // namespace pdsim
