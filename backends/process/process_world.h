// Runs one real process per rank on this machine, watches them, collects their records, and leaves nothing behind.
//
//   hang      no rank recorded anything new for `patience` while some rank had not finished: every unfinished rank is asked for
//             its record (its watchdog thread answers, even while the main thread hangs), then all are ended
//   refusal   a rank whose program ends before it records anything, with status 2 or more, ends the run at once
//   death     a rank that exits without its last frame, or is killed, is noticed at once, and the job ends as soon as the others
//             have recorded nothing new for half a second: they hand over their records and are killed. With `ends_together` it
//             ends after half a second in any case, also when a rank's program failed. With `deaths_are_planned` the others
//             continue, and get `patience`
//   relaunch  when every rank has finished and asks to be launched again, the next launch begins in the same folder
//   clean-up  processes (each with its process group) are killed and reaped, the folder is removed, on every way out; if this
//             process itself is killed, the kernel kills the ranks
//   signals   SIGINT, SIGTERM and SIGHUP end the run with `cancelled` and are raised again at the end
//   ring      each rank writes its newest calls into memory that this process reads when the rank is over: they survive its
//             death by any signal, and leave nothing behind
//   output    the ranks' output is kept separately, the last 4 KiB per rank
//   threads   call from one thread that lives as long as the run; it blocks
#pragma once

#include "backends/process/rank_channel.h"
#include "backends/process/slots.h"
#include "core/base/quantity.h"
#include "core/base/result.h"
#include "core/record/record_ring.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim {

class Job;

struct ProcessWorldOptions {
  int ranks = 2;
  std::vector<std::string> command;       // argv of a rank process, which opens a RankChannel
  Time patience{10'000'000'000'000};      // 10 s
  Time answer_within{1'000'000'000'000};  // a rank asked for its record has 1 s
  Time start_within{30'000'000'000'000};  // and 30 s to come up
  int most_launches = 16;
  TakeSlots take_slots = nullptr;  // set where the library needs its own launcher; called again for every launch
  bool ends_together = false;
  bool deaths_are_planned = false;  // the program kills ranks, to see what the others do then
  RingShape ring;
  // A job started by mpirun, srun or torchrun: its agents start the ranks (backends/process/job.h), with their own executable for
  // command[0]; slots are not taken.
  Job* job = nullptr;
  bool begins_once = false;  // the library begins once: in a job one process per rank runs the requests of all calls
  std::string request;       // RankStart::request
};

struct RankOutcome {
  std::string record;          // the newest one it sent; empty if none
  bool finished = false;       // that was its last frame
  bool answered = false;       // finished, or answered when it was asked
  bool stopped = false;        // it did not run when it was asked (SIGSTOP, a debugger)
  std::optional<Ended> ended;  // how it ended by itself; absent when the launcher ended it
  Time ended_at{};             // when that was noticed
  Relaunch relaunch = Relaunch::none;
  bool failed = false;             // its last frame says that its program failed
  std::optional<int> ended_by;     // the rank whose end was the reason to end this one
  std::string output;              // the end of what it printed
  std::optional<RingRecord> ring;  // for a rank without its last frame: the contents of its record ring
  int launch = 1;

  // Its program ended before it recorded anything, and gives the reason in its output.
  bool refused() const {
    constexpr int least = 2;  // smaller ones come from programs that ran
    return record.empty() && !ring && ended && ended->signal == 0 && ended->exit_status >= least;
  }
};

struct ProcessWorldResult {
  std::vector<RankOutcome> ranks;    // of the last launch, by rank
  std::vector<RankOutcome> earlier;  // of the launches before
  bool deadlocked = false;
  Time deadlock_at{};  // time of the last record
  Time elapsed{};
};

// Errors: io_error (no process, folder or socket available), unavailable (the ranks never came up), cancelled (a signal).
Result<ProcessWorldResult> run_process_world(const ProcessWorldOptions& options);

}  // namespace pdsim
