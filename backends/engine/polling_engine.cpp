#include "backends/engine/polling_engine.h"

#include <future>
#include <utility>

namespace pdsim {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Status PollingEngine::begin(std::function<Status()> first) {
  thread_ = std::thread([this, first = std::move(first)] { loop(first); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_.has_value(); });
  return *begun_;
}

void PollingEngine::stop(std::function<void(bool undone)> last) {
  {
    const std::lock_guard lock(mutex_);
    last_ = std::move(last);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Status PollingEngine::health() const {
  if (!operations_.aborted()) return {};
  return Error{Code::group_unusable, aborted_text_, {}};
}

void PollingEngine::run(std::function<void()> f) {
  if (std::this_thread::get_id() == thread_.get_id()) return f();
  enqueue(std::move(f));
}

void PollingEngine::enqueue(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(f));
  changed_.notify_all();
}

Status PollingEngine::call(std::function<Status()> f) {
  auto outcome = std::make_shared<std::promise<Status>>();
  std::future<Status> future = outcome->get_future();
  run([this, outcome, call = std::move(f)] { outcome->set_value(operations_.aborted() ? health() : call()); });
  return future.get();
}

void PollingEngine::add(std::unique_ptr<PolledOperation> operation) { operations_.add(std::move(operation)); }

void PollingEngine::abort(const Error& reason) {
  if (std::this_thread::get_id() == thread_.get_id()) return operations_.abort(reason);
  std::promise<void> done;
  enqueue([&] {  // behind what was begun before, which ends with this reason too
    operations_.abort(reason);
    done.set_value();
  });
  done.get_future().wait();
}

// False: the engine is to stop.
bool PollingEngine::take_tasks(std::vector<std::function<void()>>& tasks) {
  tasks.clear();
  std::unique_lock lock(mutex_);
  const auto is_wanted = [this] { return stopping_ || !tasks_.empty(); };
  if (operations_.empty() || operations_.aborted()) {
    changed_.wait(lock, is_wanted);
  } else if (const auto nap = nap_after(Clock::now() - last_news_); nap.count() > 0) {
    changed_.wait_for(lock, nap, is_wanted);
  }
  tasks.swap(tasks_);
  return !stopping_ || !tasks.empty();
}

void PollingEngine::loop(const std::function<Status()>& first) {
  Status status = first();
  const bool well = status.ok();
  {
    const std::lock_guard lock(mutex_);
    begun_ = std::move(status);
    changed_.notify_all();
  }
  std::vector<std::function<void()>> tasks;
  while (well && take_tasks(tasks)) {
    for (const auto& task : tasks) task();
    const bool begun = operations_.has_added() || !tasks.empty();
    if (operations_.poll() || begun)
      last_news_ = Clock::now();
    else
      std::this_thread::yield();
  }
  if (!well) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_; });
  }
  if (last_) last_(operations_.aborted() || !operations_.empty());
}

}  // namespace pdsim
