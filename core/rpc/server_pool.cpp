#include "core/rpc/server_pool.h"

#include <utility>

namespace pdsim {

void ServerPool::run(Job job) {
  if (stopping_) return;
  queue_.push_back(std::move(job));
  if (!resting_.empty()) {
    const std::shared_ptr<Event> event = std::move(resting_.front());
    resting_.pop_front();
    event->set();
  } else if (static_cast<int>(threads_.size()) < limit_) {
    threads_.push_back(runtime_.spawn([this, server = static_cast<int>(threads_.size())] { serve(server); }));
  }
}

void ServerPool::serve(int server) {
  while (!stopping_) {
    if (queue_.empty()) {
      const std::shared_ptr<Event> event = runtime_.make_event();
      resting_.push_back(event);
      event->wait(Time::max());
      continue;
    }
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    ++busy_;
    job(server);
    --busy_;
    if (idle() && on_idle) on_idle();
  }
}

void ServerPool::stop() {
  stopping_ = true;
  queue_.clear();
  for (const std::shared_ptr<Event>& event : resting_) event->set();
  resting_.clear();
  threads_.clear();
}

}  // namespace pdsim
