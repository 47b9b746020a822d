// The one thread of a process that calls a library which must be polled, and advances its operations.
//
//   progress  the thread tests the operations repeatedly: without pause for a while, then with naps (nap_after), so that a
//             hang does not keep a core busy
//   threads   every method from any thread, except `add`, which is for the engine's own
#pragma once

#include "backends/engine/polled_operations.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace pdsim {

class PollingEngine {
 public:
  virtual ~PollingEngine() = default;

  // Runs `f` on the engine's thread, in call order. It must check health() before it calls the library.
  void enqueue(std::function<void()> f);
  // The same, but at once when called on that thread.
  void run(std::function<void()> f);
  // Runs `f` there, unless aborted, and waits for it.
  Status call(std::function<Status()> f);
  Status health() const;  // group_unusable: aborted
  void add(std::unique_ptr<PolledOperation> operation);
  // The library is not called from now on; what is in flight gives up with `reason`.
  void abort(const Error& reason);

 protected:
  // `aborted` is what health() says of an engine that was aborted.
  explicit PollingEngine(std::string aborted) : aborted_text_(std::move(aborted)) {}
  // Starts the thread and waits for the first thing that runs there. After an error only stop() remains.
  Status begin(std::function<Status()> first);
  // Ends the thread and drops the operations under way. `last` runs there; its argument says whether anything was left undone.
  // The destructor of each subclass calls this, since `first` and `last` belong to the subclass.
  void stop(std::function<void(bool undone)> last);

 private:
  void loop(const std::function<Status()>& first);
  bool take_tasks(std::vector<std::function<void()>>& tasks);

  std::string aborted_text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::optional<Status> begun_;
  std::function<void(bool)> last_;
  // Used by the engine's thread only.
  PolledOperations operations_;
  std::chrono::steady_clock::time_point last_news_{};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pdsim
