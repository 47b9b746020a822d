// The facts in the lines of a job's logs, as typed values. Nothing is concluded here.
#pragma once

#include "core/base/types.h"
#include "core/record/site.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pdsim::scenarios::logs {

// NCCL's watchdog found this call past its timeout. -1: the line does not say.
struct WatchdogTimeout {
  std::string op;  // PyTorch's name: ALLREDUCE
  Seq seq = -1;
  std::int64_t elements_in = -1, elements_out = -1;
  std::int64_t timeout_ms = -1, ran_ms = -1;
};

// The rank's progress in a group.
struct GroupProgress {
  Seq failed = -1;  // the work that the line is about
  Seq enqueued = -1, completed = -1;
  bool says_completed = false;  // with -1: none was
  bool is_after_timeout = false;    // a collective of the job timed out, here or on the next rank
  Rank timed_out_rank = no_rank;    // another rank, whose timeout it was
};

// TORCH_DISTRIBUTED_DEBUG=DETAIL: these two met.
struct FingerprintSide {
  Rank rank = no_rank;      // of the job; no_rank: the log does not say
  Rank in_group = no_rank;  // as the line gives it
  Seq seq = -1;
  std::string op;
  std::vector<std::int64_t> shape;
  std::string dtype;
};
struct FingerprintMismatch {
  FingerprintSide mine, theirs;
  bool is_whole_job = false;  // no line shows that the group's ranks differ from the job's
};

// Rank 0's report of missing ranks in monitored_barrier of a group. For those in `in_group` the log does not give the rank of the
// job.
struct BarrierMissed {
  std::vector<Rank> ranks, in_group;
  std::int64_t timeout_ms = -1;
};
// Another rank's report: it arrived, and rank `blamed` gave up. The line's ranks are those of the group.
struct BarrierReached {
  Rank mine = no_rank, blamed_in_group = no_rank;
  Rank blamed = no_rank;  // of the job; no_rank: the log does not say
};

// A connection of the rank was closed.
struct PeerClosed {
  std::string address;
};
// Gloo waited this long for a send or receive.
struct TransferTimeout {
  bool is_send = false;
  std::int64_t timeout_ms = -1;
};
// Gloo ended the process: a message was longer than its receive buffer.
struct MessageTooLong {
  std::int64_t bytes = -1, room = -1;
};

// NCCL's desync report on the state of these ranks. Its numbers are its own.
struct DesyncState {
  std::vector<Rank> ranks, in_group;  // in_group: ranks whose rank in the job is unknown
  Seq seq = -1;
  std::string op;
  bool finished = false;
  bool lagging = false;  // the line names those that it considers the cause
};
struct DesyncAbsent {
  std::vector<Rank> ranks, in_group;  // never joined any collective
};

// The thread that monitors the watchdog found it stalled.
struct HeartbeatLost {
  std::int64_t seconds = -1;
};

// A process ended, as a launcher, a batch system or the kernel says it.
struct ProcessFailed {
  Rank rank = no_rank, local_rank = no_rank;
  std::int64_t exit_code = 0, pid = -1, task = -1;  // task: Slurm's number
  int signal = 0;
  std::string host;
  bool first = false;          // the launcher saw this one fail first
  bool out_of_memory = false;  // of its machine or its cgroup
};

// Somebody ended the whole job: the user, or the batch system.
struct JobCancelled {
  std::string by;  // "Slurm, at its time limit"
};

// The Reducer's list of parameters without a gradient.
struct GradientsMissing {
  Rank rank = no_rank;      // of the job; no_rank: the log does not say
  Rank in_group = no_rank;  // of the wrapper's group, as the line says it
  std::vector<std::int64_t> indices;
  std::vector<std::string> names;
};
struct MarkedTwice {
  std::int64_t index = -1;
  std::string name;
};

struct StoreTimeout {
  std::int64_t timeout_ms = -1;
  std::string keys;
};

// The job's number of ranks, or the number that had joined.
struct WorldSize {
  std::int64_t ranks = -1, joined = -1;
  bool is_communicator = false;  // NCCL's, which can be one of a group
};

// A Python exception that ended its traceback.
struct Raised {
  std::string type, message;
  std::vector<StackFrame> frames;  // innermost first
};

// A line that says that the GPU's memory is exhausted, with or without a traceback around it.
struct OutOfMemory {
  std::string text;  // from "CUDA out of memory" on
};

// A warning of NCCL itself: "HOST:PID:THREAD [DEVICE] FILE:LINE NCCL WARN TEXT".
struct NcclWarning {
  std::string host;  // empty: the line does not say
  std::int64_t pid = -1, device = -1;
  std::string text;
};
// NCCL's thread on a host noticed that a process there closed its connection: it ended, or gave its communicator up.
struct LocalRankLeft {
  std::string host;
  Rank local_rank = no_rank;
};

enum class StackSource : std::uint8_t { py_spy, faulthandler, flight_recorder };
// The place of a thread.
struct Stack {
  StackSource source = StackSource::py_spy;
  std::string thread;
  std::int64_t pid = -1;
  std::vector<StackFrame> frames;  // innermost first
};

// The report of NCCL's RAS service on a communicator or on processes (ras_reader.h).
struct RasMember {
  Rank rank = no_rank;  // of the communicator
  std::int64_t pid = -1;
  std::string host;
};
struct RasPart {
  std::int64_t ranks = 0;  // that agree
  Seq launched = -1;       // calls of the operation; 0: none
  std::string status;
  std::vector<RasMember> members;  // where they are named
};
enum class RasKind : std::uint8_t { counts, status, no_data, dead_processes, silent_processes };
struct RasReport {
  RasKind kind = RasKind::counts;
  std::string communicator;  // its hash; empty: of the whole job
  std::string operation;     // AllReduce; empty: of any
  std::int64_t size = -1;    // ranks of the communicator
  bool is_whole_job = false;  // so its ranks are the job's
  std::vector<RasPart> parts;
};

using FactBody = std::variant<WatchdogTimeout, GroupProgress, FingerprintMismatch, BarrierMissed, BarrierReached,
                              PeerClosed, TransferTimeout, MessageTooLong, DesyncState, DesyncAbsent, HeartbeatLost,
                              ProcessFailed, JobCancelled, GradientsMissing, MarkedTwice, StoreTimeout, WorldSize, Raised, OutOfMemory, NcclWarning, LocalRankLeft, Stack, RasReport>;

struct Fact {
  Rank rank = no_rank;        // of the job, that reported it; no_rank: the log does not say
  Rank group_rank = no_rank;  // of the group, as the line's prefix gives it
  std::string group;          // PyTorch's name of it; empty when unknown
  std::string group_desc;
  int file = 0;                       // of LogFacts::files
  std::int64_t line = 0;              // from 1
  std::optional<std::int64_t> at_ns;  // since the year began, by the host's clock: logs leave the year out
  FactBody body;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&body);
  }
};

}  // namespace pdsim::scenarios::logs
