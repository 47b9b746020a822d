// The records of a job's ranks beside their own library (PDSIM_RECORD), as one run for the diagnosis.
//
//   ranks    by what each process said of itself; one without a record gets a note that says so. Of two records of one rank the newer counts
//   time     since the first thing that any rank recorded; the clocks are those of the machines
//   ends     what a process said last; of one that said nothing: it lives, or was ended with all others, or gave its last sign of life
//            earlier than they did and counts as silent, or as dead where the library of another rank has seen its connection close
//   stuck    a rank sits in a call, nobody has ended by itself with an error, and nothing was recorded in the last seconds of the job
#pragma once

#include "scenarios/guests/real/recorded_rank.h"
#include "scenarios/records/saved_run.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// The watching process's knowledge of the processes.
struct WatchedEnd {
  bool quiet = false;           // no rank makes progress any more
  int ranks = 0;                // 0: the number that the records say
  std::vector<FoundProcess> fates;  // by record
};

struct RecordedRun {
  SavedRun saved;
  std::string backend, version;          // as the first rank that knew said
  std::vector<std::string> hosts;        // by rank; empty without a record
  std::vector<std::string> remarks;      // on records that do not count
  std::string missing_module;            // of the ImportError that ended a rank; empty: none
};

// The records below a folder.
std::vector<std::string> records_below(const std::string& folder);
// input_invalid: none can be read, or none is of a rank.
Result<RecordedRun> recorded_run(std::vector<RecordedProcess> processes, const WatchedEnd& end);
// Reads the records of a job that nobody has watched. `now_ns`: since 1970.
Result<RecordedRun> recorded_run_at(const std::vector<std::string>& paths, std::int64_t now_ns);

}  // namespace pdsim::scenarios::guests
