// RpcFuture: the result of a call under way.
//
//   wait       parks the caller until the result is there; after the call's time limit it marks the future with a timeout, and a
//              later result is dropped
//   then       returns another future for the result of `f` of this one once it is over; `f` runs on a server thread, or at once.
//              Only waits notice a limit: on this future or on one derived from it
//   record     a wait() that parks is a call of the flight record, where the future belongs to a request; await() is not, for a
//              call that is recorded itself
//   threads    those of one rank; copies share
#pragma once

#include "core/record/flight_record.h"
#include "core/rpc/value.h"
#include "core/runtime/runtime.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pdsim {

class RpcFuture {
 public:
  // When the limit is reached, `on_expiry` provides the result.
  RpcFuture(Runtime& runtime, Time deadline, std::function<Error()> on_expiry);

  bool done() const { return state_->result.has_value(); }
  Result<RpcValue> wait() const;
  Result<RpcValue> await() const;
  RpcFuture then(std::function<Result<RpcValue>(const RpcFuture& finished)> f) const;
  // Runs at once if the future is over.
  void on_done(std::function<void()> f) const;
  void complete(Result<RpcValue> result) const;  // the first call wins
  // Records waits there, as this call.
  void record_waits(FlightRecorder& recorder, std::shared_ptr<const Call> wait) const {
    state_->recorder = &recorder;
    state_->recorded_wait = std::move(wait);
  }

 private:
  struct State {
    Runtime& runtime;
    Time deadline;
    std::function<Error()> on_expiry;
    std::unique_ptr<Event> event;
    std::optional<Result<RpcValue>> result{};
    std::vector<std::function<void()>> on_done{};
    FlightRecorder* recorder = nullptr;
    std::shared_ptr<const Call> recorded_wait{};
  };
  std::shared_ptr<State> state_;
};

// Returns all values in order, or the first error by position; returns when all are over, or at the first error.
Result<std::vector<RpcValue>> wait_all(std::span<const RpcFuture> futures);

}  // namespace pdsim
