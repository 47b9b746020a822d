// ProcessGroup: validates a call, numbers it, records it, and starts it on the group's communicator.
//
//   blocking   all calls return a started Work; the free functions in the rank program wait on it
//   order      every collective takes the next sequence number, on every rank; send and recv take none
//   errors     invalid_argument (rank out of range, null buffer, op x dtype ...), group_destroyed; on the calling rank,
//              before anything reaches the backend, and the group stays usable
//   ranks      roots and peers are group ranks here; `global_rank` translates
//
//   Result<ProcessGroup> group = init_process_group(env);
//   if (!group.ok()) return {group.error()};
//   const Result<WorkPtr> work = group->all_reduce(view_of(gradients), ReduceOp::sum);
//   ...                                        // the rank goes on while the call runs
//   const Status reduced = wait(work);         // the error of the call at once, or how its work ended
#pragma once

#include "core/group/backend.h"
#include "core/group/rank_list.h"
#include "core/record/flight_record.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {

struct CallOptions {
  Purpose purpose;                      // for the recorder
  std::vector<std::string> parameters;  // for the recorder: those of a bucket
  std::string_view algorithm = "auto";
  // A row outside the tables, instead of a name; outlives the call. It is proven for this group before its first run (errors:
  // invalid_argument, with the counterexample), unless `unproven`: an approximation, say. Either way, a plan that leaves its
  // buffers or its group ends in an error.
  const Algorithm* own_algorithm = nullptr;
  bool unproven = false;
  bool async = false;          // recorded only: the caller intends to wait later
  Time timeout = Time::max();  // max: the group's
};

class ProcessGroup {
 public:
  // `global_ranks` is by group rank; on a rank outside the group `communicator` is null and `rank` no_rank.
  ProcessGroup(std::string name, RankList global_ranks, Rank rank, Time timeout, std::unique_ptr<Communicator> communicator,
               FlightRecorder& recorder);

  const std::string& name() const { return name_; }
  Rank rank() const { return rank_; }
  // False for the handle that new_group gives to ranks outside the group: its rank is no_rank, and every call on it does nothing,
  // succeeds at once and leaves a note, like c10d's warning.
  bool is_member() const { return communicator_ != nullptr; }
  int size() const { return global_ranks_.size(); }
  Rank global_rank(Rank group_rank) const { return global_ranks_[group_rank]; }
  // Error: invalid_argument, when the rank is not in the group.
  Result<Rank> group_rank(Rank global_rank) const;
  Time timeout() const { return timeout_; }
  FlightRecorder& recorder() { return recorder_; }
  // The rendezvous store, which lives as long as this group; null where it has another owner.
  Store* store() const { return store_.get(); }
  void keep(std::unique_ptr<Store> store) { store_ = std::move(store); }

  Result<WorkPtr> broadcast(MutableView data, Rank root, CallOptions options = {});
  Result<WorkPtr> all_reduce(MutableView data, ReduceOp op, CallOptions options = {});
  // A rank other than the root may pass an output too, as PyTorch's tensor is both: Gloo leaves partial sums there, NCCL and MPI
  // nothing.
  Result<WorkPtr> reduce(ConstView input, MutableView output, ReduceOp op, Rank root, CallOptions options = {});
  Result<WorkPtr> all_gather(ConstView input, MutableView output, CallOptions options = {});
  Result<WorkPtr> gather(ConstView input, MutableView output, Rank root, CallOptions options = {});
  Result<WorkPtr> scatter(ConstView input, MutableView output, Rank root, CallOptions options = {});
  Result<WorkPtr> reduce_scatter(ConstView input, MutableView output, ReduceOp op, CallOptions options = {});
  Result<WorkPtr> all_to_all(ConstView input, MutableView output, CallOptions options = {});
  // Parts of different sizes: counts[r] is the number of elements that rank r contributes (all_gather_v, to every rank's output)
  // or receives (reduce_scatter_v); the same list on every rank. all_to_all_v sends send_counts[r] elements of the input to rank
  // r, and puts receive_counts[r] elements from it into the output; as in c10d, agreement between ranks is not checked, but a
  // rank must agree with itself.
  using Counts = std::span<const std::int64_t>;
  Result<WorkPtr> all_gather_v(ConstView input, MutableView output, Counts counts, CallOptions options = {});
  Result<WorkPtr> reduce_scatter_v(ConstView input, MutableView output, Counts counts, ReduceOp op,
                                   CallOptions options = {});
  Result<WorkPtr> all_to_all_v(ConstView input, MutableView output, Counts send_counts, Counts receive_counts,
                               CallOptions options = {});
  // Rank r receives the combination of ranks 0 .. r (scan), or 0 .. r-1 (exscan, whose rank 0 has no output).
  Result<WorkPtr> scan(ConstView input, MutableView output, ReduceOp op, CallOptions options = {});
  Result<WorkPtr> exscan(ConstView input, MutableView output, ReduceOp op, CallOptions options = {});
  Result<WorkPtr> barrier(CallOptions options = {});
  Result<WorkPtr> send(ConstView data, Rank to, Tag tag, CallOptions options = {});
  // `from` may be any_source; Work::source names the sender.
  Result<WorkPtr> recv(MutableView data, Rank from, Tag tag, CallOptions options = {});
  // Starts all at once, as batch_isend_irecv: one bad message refuses the whole list before anything is started.
  struct Message {
    bool sends = true;
    MutableView data;
    Rank peer = 0;
    Tag tag = 0;
  };
  Result<std::vector<WorkPtr>> batch(std::span<const Message> messages, const CallOptions& options = {});

  // Blocks until every rank has arrived. Rank 0 waits for the others in ascending order, `timeout` each, and names the first
  // missing rank (`all`: every one) in a timeout error; the others then report that they arrived, and point to rank 0.
  Status monitored_barrier(Runtime& runtime, Time timeout, bool all = false);

  // The general form of all calls above; fills in `call.seq` and the recorder's entry.
  Result<WorkPtr> start(Collective call, CallOptions options);

  // Later calls return group_destroyed; running ones end with `cancelled`.
  void destroy();

 private:
  Status check(const Collective& call) const;
  Status answer_all(Runtime& runtime, const Collective& call, bool all);
  Status report_to_first(Runtime& runtime, const Collective& call);
  std::int64_t record(const Collective& call, CallOptions options);  // its entry in the flight record
  Result<WorkPtr> not_a_member(const Collective& call);

  std::string name_;
  RankList global_ranks_;
  Rank rank_;
  Time timeout_;
  std::unique_ptr<Store> store_;  // outlives the communicator
  std::unique_ptr<Communicator> communicator_;
  FlightRecorder& recorder_;
  Seq next_seq_ = 0;
  bool destroyed_ = false;
};

// Waits for the result of a started call: its error at once, or the work's outcome.
Status wait(const Result<WorkPtr>& started);

}  // namespace pdsim
