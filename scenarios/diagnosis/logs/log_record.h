// The facts of plain logs as a run, for the rules that explain every other record.
//
//   ranks     all that the log names, or says that there are; one of whose calls it says nothing gets a note that its record is missing
//   calls     of each group those whose number some rank names: a rank whose last completed number is not below it has left the call, one
//             whose last enqueued number is not below it is in it, and one with a smaller number never made it
//   proven    a rank that waits in a later call has gone on from the earlier ones; one that it does not itself report as completed says so in
//             its message
//   names     where a rank's own line does not say what its call was, the call has the name that others give it
//   errors    the last exception of a rank, the way its process ended. A process that the watchdog or the launcher ended is not a cause.
//   time      since the first time in the log; logs leave the year out
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/records/logs/log_reader.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// What the log says of a rank in a group.
struct LoggedProgress {
  Seq enqueued = -1, completed = -1;
  bool says_completed = false;
  struct Waited {
    logs::WatchdogTimeout timeout;
    const logs::Fact* fact = nullptr;
  };
  std::map<Seq, Waited> timeouts;
  const logs::Fact* fact = nullptr;  // the newest line about it
};

inline constexpr std::string_view group_of_the_job = "default_pg";

struct LoggedGroup {
  std::map<Rank, LoggedProgress> ranks;
  std::vector<Rank> members;  // that the log proves, those that print nothing of the group among them; ascending
  bool is_one = true;         // false: several groups of the job share the name that the lines give
};
// By label, which is the description where it distinguishes groups, else the description and the name. The facts must outlive it.
using LoggedGroups = std::map<std::string, LoggedGroup>;
LoggedGroups groups_of(const logs::LogFacts& facts);

// PyTorch's function for what its logs call an operation: ALLREDUCE is all_reduce, _ALLGATHER_BASE all_gather.
std::string operation_of(std::string_view logged);

struct LogRecord {
  RunRecord run;
  std::optional<int> world_size;         // what the log says; absent: it does not
  std::optional<std::int64_t> epoch_ns;  // of the run's begin, since the year began; absent: the log has no times
};
LogRecord record_of(const logs::LogFacts& facts, const LoggedGroups& groups);

}  // namespace pdsim::scenarios
