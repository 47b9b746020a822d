// Turns what a guest only reports into calls and notes of a flight record: the functions of the program that it enters and
// leaves, and the activity of DistributedDataParallel.
#pragma once

#include "core/record/flight_record.h"
#include "scenarios/guests/request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::guests {

class ScriptCalls {
 public:
  explicit ScriptCalls(FlightRecorder& recorder) : recorder_(recorder) {}
  // A request that expects no answer, at the recorder's present site. A `leave` whose `enter` was not reported is ignored.
  void take(const Request& request);
  // The exception that ended the script, where one did.
  const std::optional<Request>& raised() const { return raised_; }
  // The record's end of a process that ended with this status, not 0: an error with the facts of rank_end.h, and its place. `raised` is
  // the exception that ended it; null: none did.
  struct End {
    Error error;
    Site site;
  };
  End end_with(int status, const Request* raised) const;
  // The newest function that ended with an error, if none has begun since; else empty.
  const std::string& failed() const { return failed_; }
  // Whether this is the innermost function that the script has entered.
  bool is_in(std::string_view function) const { return !open_.empty() && open_.back().name == function; }
  // Where a process was that nothing could report: in the innermost function that it has entered, or between them (no `op`, unless
  // the step says where).
  Site last_place() const;

 private:
  struct Open {
    std::int64_t call = 0;
    std::string name;
  };

  void note_overwritten(const Request& request);
  void take_replica(const Request& request);

  FlightRecorder& recorder_;
  std::vector<Open> open_;
  std::vector<std::int64_t> forwards_;  // since the newest backward that returned
  std::string failed_;
  int made_ = 0;
  std::int64_t digests_left_ = std::int64_t{1} << 20;  // of single parameters, that the record still keeps
  std::optional<Request> raised_, exited_;
};

}  // namespace pdsim::scenarios::guests
