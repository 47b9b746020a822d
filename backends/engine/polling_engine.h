// The one thread of a process that calls a library which has to be polled, and drives what is in flight there.
//
//   progress  the thread tests what is in flight, over and over: without pause for a while, then with short naps, so that a hang
//             does not keep a core busy
//   threads   every method from any thread, but `add` from the engine's own
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

  // Runs `f` on the engine's thread, in the order of the calls. It must ask health() before it calls the library.
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
  // Ends the thread; what is in flight is dropped. `last` runs there, and is told whether anything was left undone. Called by the
  // destructor of each subclass, for `first` and `last` are of it.
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
  // Of the engine's thread only.
  PolledOperations operations_;
  std::chrono::steady_clock::time_point last_news_{};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pdsim
