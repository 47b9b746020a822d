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
#include "scenarios/diagnosis/logs/logged_groups.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// Facts of RankLog::error.
inline constexpr std::string_view exit_code_fact = "exit_code";          // in the launcher's table; the log does not say why
inline constexpr std::string_view out_of_memory_fact = "out_of_memory";  // of what; a line says so, and no traceback around it

// PyTorch's function for an operation in its logs: ALLREDUCE is all_reduce, _ALLGATHER_BASE all_gather.
std::string operation_of(std::string_view logged);

struct LogRecord {
  RunRecord run;
  std::optional<int> world_size;         // stated by the log; absent: it is not
  std::optional<std::int64_t> epoch_ns;  // the run's begin, since the year began; absent: the log has no times
};
LogRecord record_of(const logs::LogFacts& facts, const LoggedGroups& groups);

}  // namespace pdsim::scenarios
