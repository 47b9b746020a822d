// ProcessGroup: validates a call, numbers it, records it, and starts it on the backend's member of this group.
//
//   blocking   all calls return a started Work; the free functions in the rank program wait on it
//   order      every collective takes the next sequence number, on every rank; send and recv take none
//   errors     invalid_argument (rank out of range, null buffer, op x dtype ...), group_destroyed; on the calling rank,
//              before anything reaches the backend, and the group stays usable
//   ranks      roots and peers are group ranks here; `global_rank` translates
#pragma once

#include "core/group/backend.h"
#include "core/group/flight_record.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim {

struct CallOptions {
  std::string purpose;  // for the recorder: "bucket 0", "buffers" ...
  Facts facts;
  std::string_view algorithm = "auto";
  bool async = false;          // recorded only: the caller intends to wait later
  Time timeout = Time::max();  // max: the group's
};

class ProcessGroup {
 public:
  // `global_ranks` by group rank; `member` null and `rank` no_rank on a rank outside the group.
  ProcessGroup(std::string name, std::vector<Rank> global_ranks, Rank rank, Time timeout,
               std::unique_ptr<Member> member, FlightRecorder& recorder);

  const std::string& name() const { return name_; }
  Rank rank() const { return rank_; }
  // False for the handle that new_group gives to ranks outside the group: its rank is no_rank, and every call on it
  // does nothing, succeeds at once and leaves a note, as c10d's warning does.
  bool is_member() const { return member_ != nullptr; }
  int size() const { return static_cast<int>(global_ranks_.size()); }
  Rank global_rank(Rank group_rank) const { return global_ranks_[static_cast<std::size_t>(group_rank)]; }
  // Error: invalid_argument, when the rank is not in the group.
  Result<Rank> group_rank(Rank global_rank) const;
  Time timeout() const { return timeout_; }
  FlightRecorder& recorder() { return recorder_; }

  Result<WorkPtr> broadcast(MutableView data, Rank root, CallOptions options = {});
  Result<WorkPtr> all_reduce(MutableView data, ReduceOp op, CallOptions options = {});
  Result<WorkPtr> reduce(ConstView input, MutableView output, ReduceOp op, Rank root, CallOptions options = {});
  Result<WorkPtr> all_gather(ConstView input, MutableView output, CallOptions options = {});
  Result<WorkPtr> gather(ConstView input, MutableView output, Rank root, CallOptions options = {});
  Result<WorkPtr> scatter(ConstView input, MutableView output, Rank root, CallOptions options = {});
  Result<WorkPtr> reduce_scatter(ConstView input, MutableView output, ReduceOp op, CallOptions options = {});
  Result<WorkPtr> all_to_all(ConstView input, MutableView output, CallOptions options = {});
  Result<WorkPtr> barrier(CallOptions options = {});
  Result<WorkPtr> send(ConstView data, Rank to, Tag tag, CallOptions options = {});
  Result<WorkPtr> recv(MutableView data, Rank from, Tag tag, CallOptions options = {});

  // The general form of all of the above; `call.seq` and the recorder's entry are filled in here.
  Result<WorkPtr> start(Collective call, CallOptions options);

  // Later calls return group_destroyed; running ones end with `cancelled`.
  void destroy();

 private:
  Result<WorkPtr> not_a_member(const Collective& call);

  std::string name_;
  std::vector<Rank> global_ranks_;
  Rank rank_;
  Time timeout_;
  std::unique_ptr<Member> member_;
  FlightRecorder& recorder_;
  Seq next_seq_ = 0;
  bool destroyed_ = false;
};

// Waits for what `start` returned: its error at once, or the work's outcome.
Status wait(const Result<WorkPtr>& started);

}  // namespace pdsim
