// One rank's record beside its own library, as the flight record that the simulated world would have made of the same calls.
#pragma once

#include "backends/os/posix.h"
#include "core/record/flight_record.h"
#include "scenarios/guests/real/record_file.h"

#include <optional>

namespace pdsim::scenarios::guests {

// How a rank's process was found when its record was taken.
struct FoundProcess {
  std::optional<Ended> ended;      // by itself
  std::optional<Time> ended_at;    // absent: after the last thing that it recorded
  bool stopped = false;            // SIGSTOP, a debugger
  bool silent = false;             // it lives and gives no sign of it
  std::vector<StackFrame> stack;   // of its Python, innermost first; empty: it was not asked or did not answer
};

// Times count from `epoch_ns` since 1970.
struct ReplayedRank {
  RankLog log;
  LeftOut left_out;            // calls whose numbers cannot be
  std::string missing_module;  // of the ImportError that ended the script; empty: none did
};
ReplayedRank replayed(const RecordedProcess& process, Rank rank, std::int64_t epoch_ns, const FoundProcess& fate);

// The newest moment of the record.
Time newest_moment(const RankLog& log);

}  // namespace pdsim::scenarios::guests
