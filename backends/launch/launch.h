// `pdsim launch`: starts the ranks of any program on this machine, shows what they print, and ends them together.
//
//   ranks     processes in groups of their own, without input, with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR
//             (127.0.0.1) and MASTER_PORT (reserved_port.h) in their environment, and nothing of a job around the launcher
//   records   PDSIM_FLIGHT_RECORD names memory for the flight record of each rank (backends/process/record_file.h): a rank that fails is
//             told with its last call
//   output    line by line, `[rank 1] ` before each (line_output.h), standard output and standard error apart
//   death     when a rank exits with another status than 0, is killed by a signal, or has been stopped (SIGSTOP) for `patience`,
//             that is told, and the job ends. Ranks that exit with 0 are done; the others go on
//   quiet     when no process of the job has computed or printed anything for `patience`, that is told, with what each rank is
//             doing, once until something happens again; the job goes on. So also when ranks keep records and no call has begun or
//             ended for as long, though somebody computes (MPI does while it waits), if `explain` finds one who waits
//   end       all processes of the job, daemons too, get SIGTERM, and SIGKILL when they are still there after `grace`. So also
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
  TakeSlots take_slots = nullptr;  // where the library wants its own launcher
  bool all_to_stderr = false;      // what ranks print; standard output is for somebody else
  std::string records;             // a folder for the record rings while ranks run; empty: they are in memory only
  // One sentence on who waits for whom in a job that gets nowhere, out of its rings; empty: nobody waits.
  std::function<std::string(const LaunchOutcome&)> explain;
};

struct LaunchOutcome {
  // Of the rank that failed first, as a shell tells it (128 + n after signal n); 0 when there is none.
  int status = 0;
  Status problem;  // cancelled (a signal; it is raised again), io_error, input_invalid (cannot be executed)
  std::vector<RankOutcome> ranks;  // each with its ring, and with how it ended if it was not ended by this
  bool quiet = false;              // none did anything when the job ended
};

constexpr int most_launched = 256;

// What is wrong with starting `program`, looked up in PATH where it names no folder; empty: nothing.
std::string program_problem(const std::string& program);

// `at_end` sees how it came out when all have ended, before a signal is raised again. Errors: nothing was started: io_error,
// unavailable (no slots), cancelled.
Result<LaunchOutcome> launch_ranks(const LaunchOptions& options,
                                   const std::function<void(const LaunchOutcome&)>& at_end = {});

}  // namespace pdsim
