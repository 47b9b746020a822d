// `pdsim launch`: starts the ranks of any program on this machine, shows their output, and ends them together.
//
//   ranks     processes in groups of their own, without input, with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR
//             (127.0.0.1) and MASTER_PORT (reserved_port.h) in their environment, and no variables of a job around the launcher
//   records   PDSIM_FLIGHT_RECORD names memory for the flight record of each rank (backends/process/record_file.h): a failed rank
//             is reported with its last call
//   output    line by line, `[rank 1] ` before each (line_output.h), standard output and standard error apart
//   death     when a rank exits with another status than 0, is killed by a signal, or has been stopped (SIGSTOP) for `patience`,
//             that is reported, and the job ends. Ranks that exit with 0 are done; the others continue
//   quiet     when no process of the job has computed or printed anything for `patience`, that is reported, with the activity of
//             each rank, once until something happens again; the job continues. The same applies when ranks keep records and no
//             call has begun or ended for that long, though some rank computes (MPI does while it waits), if `explain` finds a
//             waiting rank
//   end       all processes of the job, daemons too, get SIGTERM, and SIGKILL when they are still there after `grace`. The same
//             at SIGINT, SIGTERM, SIGHUP and SIGQUIT of the launcher, and when every rank is done
//   threads   one; call it in a process of its own, below a guard (guarded.h), which ends the ranks if this is killed
#pragma once

#include "backends/process/process_world.h"
#include "backends/process/slots.h"
#include "core/base/quantity.h"
#include "core/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace pdsim {

struct LaunchOutcome;

struct LaunchOptions {
  int ranks = 1;
  std::vector<std::string> command;
  Time patience{30'000'000'000'000};
  Time grace{5'000'000'000'000};
  TakeSlots take_slots = nullptr;  // set where the library needs its own launcher
  bool all_to_stderr = false;      // the output of ranks; standard output is for the caller
  std::string records;             // a folder for the record rings while ranks run; empty: in memory only
  // One sentence, from the rings, on which ranks wait for which in a job without progress; empty: no rank waits.
  std::function<std::string(const LaunchOutcome&)> explain;
};

struct LaunchOutcome {
  // The status of the rank that failed first, as in a shell (128 + n after signal n); 0 when none failed.
  int status = 0;
  Status problem;  // cancelled (a signal; it is raised again), io_error, input_invalid (cannot be executed)
  std::vector<RankOutcome> ranks;  // each with its ring, and with how it ended unless the launcher ended it
  bool quiet = false;              // no rank did anything when the job ended
};

constexpr int most_launched = 256;

// Why `program`, looked up in PATH where it names no folder, cannot be started; empty: it can.
std::string program_problem(const std::string& program);

// `at_end` receives the outcome when all ranks have ended, before a signal is raised again. Errors: nothing was started:
// io_error, unavailable (no slots), cancelled.
Result<LaunchOutcome> launch_ranks(const LaunchOptions& options,
                                   const std::function<void(const LaunchOutcome&)>& at_end = {});

}  // namespace pdsim
