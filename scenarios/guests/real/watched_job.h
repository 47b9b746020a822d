// Runs a script on its own library (`pdsim run --on real`): its processes record beside it, and this watches whether they make progress.
//
//   ranks    processes as those of `pdsim launch`, or one that starts them itself (multiprocessing, torchrun, mpirun); those of other
//            machines count where they write into the same folder
//   stuck    nothing was recorded for `patience` while a rank sits in a call: every record and every Python stack is taken, then the
//            job is ended
//   dead     a process that fails is seen at once; the others get a few seconds to end by themselves
//   end      no process outlives this, and no file but those of `folder`
//   threads  one; below a guard (guarded.h)
#pragma once

#include "backends/launch/launched_rank.h"
#include "backends/net/reserved_port.h"
#include "backends/os/real_runtime.h"
#include "backends/os/shared_memory.h"
#include "backends/os/temporary_folder.h"
#include "scenarios/guests/job.h"
#include "scenarios/guests/real/recorded_run.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

class WatchedJob {
 public:
  // `folder`: where the records go and stay; empty: nothing stays. Errors: io_error.
  static Result<std::unique_ptr<WatchedJob>> start(const JobOptions& options, const std::string& folder);
  ~WatchedJob();

  // Until the job has ended or is stuck; ends it. Errors: cancelled (a signal), input_invalid (it cannot be executed). Nothing: no
  // rank has recorded anything.
  Result<std::optional<RecordedRun>> run();
  // How each process that this has started ended by itself.
  const std::vector<std::optional<Ended>>& ended() const { return ended_; }

 private:
  explicit WatchedJob(const JobOptions& options)
      : options_(options), out_(options.all_to_stderr ? STDERR_FILENO : STDOUT_FILENO) {}
  bool starts_its_ranks_itself() const { return options_.ranks == 0; }
  Status begin(const std::string& folder);
  Status start_process(int rank);
  void wait_a_little();
  void look_at_processes();
  // Whether anything was recorded since the last look.
  bool look_at_records();
  bool all_ended() const;
  bool one_failed() const;
  bool somebody_waits() const;
  FoundProcess fate_of(const RecordedProcess& process) const;
  std::vector<RecordedProcess> read_records() const;
  Result<std::optional<RecordedRun>> collect(bool quiet);
  void ask_for_stacks();
  void end_all();

  struct Seen {
    SharedMemory file;
    std::uint64_t progress = 0;
    pid_t pid = 0;  // on this machine; 0: on another one
  };

  JobOptions options_;
  HeldSignals signals_;
  const RealRuntime clock_;
  Listener port_;
  std::optional<TemporaryFolder> temporary_;
  std::string folder_;
  std::vector<std::unique_ptr<LaunchedRank>> processes_;
  std::vector<std::optional<Ended>> ended_;
  std::map<std::string, Seen> records_;  // by path
  std::map<pid_t, std::vector<StackFrame>> stacks_;
  std::string cannot_execute_;
  bool over_ = false;
  LineSink out_, err_{STDERR_FILENO};
};

}  // namespace pdsim::scenarios::guests
