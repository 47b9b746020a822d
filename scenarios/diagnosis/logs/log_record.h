// The facts of plain logs as a run, for the rules that explain every other record.
//
//   ranks     all ranks that the log names or counts; one without any logged call gets a note that its record is missing
//   calls     of each group, those whose number some rank names: a rank whose last completed number is not below it has left the
//             call, one whose last enqueued number is not below it is in it, and one with a smaller number never made it
//   proven    a rank that waits in a later call has left the earlier ones; the message of a call that the rank does not itself
//             report as completed says so
//   names     where a rank's own line does not name its call, the call gets the name from other ranks
//   errors    the last exception of a rank, the way its process ended, else a line about exhausted memory of a GPU. A process killed
//             by the watchdog or the launcher is not a cause.
//   time      since the first time in the log; logs omit the year
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/records/logs/log_reader.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// Facts of RankLog::error.
inline constexpr std::string_view exit_code_fact = "exit_code";          // in the launcher's table; the log does not say why
inline constexpr std::string_view out_of_memory_fact = "out_of_memory";  // of what; a line says so, and no traceback around it

// The log's facts about a rank in a group.
struct LoggedProgress {
  Seq enqueued = -1, completed = -1;
  bool says_completed = false;
  bool timed_out = false;  // it, or another rank, says so
  struct Waited {
    logs::WatchdogTimeout timeout;
    const logs::Fact* fact = nullptr;
  };
  std::map<Seq, Waited> timeouts;
  const logs::Fact* fact = nullptr;  // the newest line about it; null: only another rank's line says that it timed out
};

inline constexpr std::string_view group_of_the_job = "default_pg";
inline constexpr std::string_view unnamed_group = "a group that the log does not name";

struct LoggedGroup {
  std::map<Rank, LoggedProgress> ranks;
  std::vector<Rank> members;  // proven by the log, including those that print nothing about the group; ascending
  bool is_one = true;         // false: several groups of the job share the name in the lines
};
// By label, which is the description where it distinguishes groups, else the description and the name. The facts must outlive it.
using LoggedGroups = std::map<std::string, LoggedGroup>;
LoggedGroups groups_of(const logs::LogFacts& facts);

// PyTorch's function for an operation in its logs: ALLREDUCE is all_reduce, _ALLGATHER_BASE all_gather.
std::string operation_of(std::string_view logged);

struct LogRecord {
  RunRecord run;
  std::optional<int> world_size;         // stated by the log; absent: it is not
  std::optional<std::int64_t> epoch_ns;  // the run's begin, since the year began; absent: the log has no times
};
LogRecord record_of(const logs::LogFacts& facts, const LoggedGroups& groups);

}  // namespace pdsim::scenarios
