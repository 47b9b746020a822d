// Work: one started operation. Shared by the rank that waits and the backend that completes it.
//
//   wait     parks the calling rank until the backend has completed the operation (timeouts are up to the backend: it
//            completes the work with an error). With `limit`, a wait that is not over by then returns timeout and
//            leaves the operation running.
//   threads  complete() from any thread of the world, once; the rest from the rank's own fiber or thread
#pragma once

#include "core/base/callback.h"
#include "core/base/result.h"
#include "core/base/types.h"
#include "core/runtime/runtime.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pdsim {

class Work {
 public:
  explicit Work(std::unique_ptr<Event> event) : owned_(std::move(event)), event_(*owned_) {}
  // `event` shares one allocation with the work.
  explicit Work(Event& event) : event_(event) {}
  bool done() const { return event_.is_set(); }
  Status wait(Time deadline = Time::max());
  // The outcome once done(); ok while it is still running.
  Status status() const;
  // For a recv: the sender's group rank, once done() without an error; no_rank before that, and for everything else.
  Rank source() const { return source_ && done() && status().ok() ? *source_ : no_rank; }
  void set_source(std::shared_ptr<const Rank> source) { source_ = std::move(source); }
  // The error that it ended with; nothing while it runs and when it succeeded.
  std::optional<Error> exception() const;
  // The first call wins; later ones are ignored (a completion may race with an abort).
  void complete(Status status);
  // Runs `f` on completion, at once if done. At most a few per work.
  using OnDone = Callback<const Status&>;
  void on_done(OnDone f);

 private:
  std::unique_ptr<Event> owned_;
  Event& event_;
  mutable std::mutex mutex_;
  bool completed_ = false;
  std::shared_ptr<const Rank> source_;
  Status status_;
  OnDone first_;  // nearly every work has only one, the flight record's
  std::vector<OnDone> further_;
};

using WorkPtr = std::shared_ptr<Work>;

}  // namespace pdsim
