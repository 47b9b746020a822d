// RpcRecords: one worker's records of remote calls in the flight record (core/record/rpc_details.h, rpc_notes.h).
#pragma once

#include "core/record/flight_record.h"
#include "core/rpc/message.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim {

// Where a request is made, and whether its thread waits for the reply.
struct RpcOrigin {
  std::string_view name;         // rpc_sync, rpc_async, remote, to_here ...
  bool async = false;
  int server = -1;               // the server thread that makes it; -1: the program
  std::int64_t served_call = -1;  // the record of the call that it serves
};

// A context's id as records have it: the rank that began it, and its number there.
struct RecordedContext {
  int begun_on = -1;
  std::int64_t number = -1;
};
RecordedContext recorded_context(std::int64_t context);

class RpcRecords {
 public:
  // `names`: of the workers, by rank.
  RpcRecords(FlightRecorder& recorder, std::vector<std::string> names)
      : recorder_(recorder), names_(std::move(names)) {}

  // Begins the record of a call at its caller; returns its number.
  std::int64_t asked(const RpcMessage& message, Rank to, Time limit, const RpcOrigin& origin);
  void reply_came(std::int64_t call) { recorder_.started(call); }
  void ended(std::int64_t call, const Status& status) { recorder_.finish(call, status); }
  // A wait for that call, as it would be recorded.
  std::shared_ptr<const Call> wait_for(const RpcMessage& message, Rank to, Time limit, const RpcOrigin& origin) const;
  // Records a wait for a value that this worker itself owns.
  std::int64_t waits_here(RpcId rref, Rank self, const RpcOrigin& origin);

  // Begins the record of a call at its callee.
  std::int64_t received(const RpcMessage& message, Rank from);
  void taken_up(std::int64_t call, int server) { recorder_.served_by(call, server); }
  void function_missing(std::int64_t call, notes::RpcFunctionMissing note) {
    recorder_.note_about(call, std::move(note));
  }
  FlightRecorder& recorder() { return recorder_; }

 private:
  Call call_of(const RpcMessage& message, Rank peer, Time limit) const;

  FlightRecorder& recorder_;
  std::vector<std::string> names_;
};

// Records a call that its caller could not make: nothing was sent. `worker` as the caller named it.
void record_refused_call(FlightRecorder& recorder, const RpcOrigin& origin, std::string_view function,
                         std::string worker, const Status& why);

}  // namespace pdsim
