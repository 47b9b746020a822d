// The findings that the facts of plain logs prove on their own, and the account of a finding: the facts proven by the log, the
// open questions, and the next step.
#pragma once

#include "scenarios/diagnosis/logs/log_record.h"
#include "scenarios/diagnosis/report.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// Findings from facts that name a cause: the Reducer's lists, monitored_barrier, the desync report, a stalled watchdog,
// exceptions whose text is that of one entry. The surest first; their ids are those of every other report.
std::vector<Diagnosis> findings_of_facts(const logs::LogFacts& facts, const LoggedGroups& groups, const LogRecord& record);

// If nothing else is found: ranks that raised an exception not caused by another rank's end, all of one type. Its headline is
// that of name_exceptions.
std::optional<Diagnosis> own_exception(const LogRecord& record);

// Names the exception of each rank that raised one, and its place: the record has only the code of the error.
void name_exceptions(const LogRecord& record, std::vector<Diagnosis>& findings);

// If nothing else is found: a process that ended, of which the log does not say which rank it was.
std::optional<Diagnosis> unknown_process(const logs::LogFacts& facts);
// "Slurm's task 3: killed because memory ran out on node7"
std::string end_text(const logs::ProcessFailed& failed);

// Whether a finding of the rules depends on a list of ranks that the log cannot prove complete: for the job, for a subgroup whose
// size no log states, or of ranks that are silent in a log in which few others print.
bool needs_all_ranks(const Diagnosis& finding, const LogRecord& record);

struct LogProof {
  std::vector<Rank> ranks;  // empty: the log names no rank
  std::string says;
  std::string place;  // job.log:14
};
// Where ranks were when their stacks were taken.
struct StackPlace {
  std::vector<Rank> ranks;  // sorted
  std::string call;         // the function of torch.distributed that they were in; empty: none
  std::string place;        // of the program's own code: train.py:12 in step
};
struct LogStory {
  bool knows_size = false;  // of the job
  std::vector<LogProof> proves;
  std::size_t more_proofs = 0;  // proofs left out
  std::vector<std::string> open, next;
  std::vector<StackPlace> stacks;  // where nothing else is found, and they are at several places, some in a call
};
// Where each rank was, by the stacks in the log: of several threads of a rank the last one in the program's own code, which is
// the main one in the order of faulthandler and py-spy. Ranks at one place together.
std::vector<LogProof> stacks_of(const logs::LogFacts& facts);

LogStory story_of(const logs::LogFacts& facts, const LoggedGroups& groups, const LogRecord& record,
                  const std::vector<Diagnosis>& findings);

}  // namespace pdsim::scenarios
