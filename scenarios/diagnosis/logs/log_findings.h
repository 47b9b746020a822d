// What the facts of plain logs prove on their own, and the story that goes with a finding: what the log proves, what it leaves open, and
// the next step.
#pragma once

#include "scenarios/diagnosis/logs/log_record.h"
#include "scenarios/diagnosis/report.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// Of facts that name a cause: the Reducer's lists, monitored_barrier, the desync report, a watchdog that stands still, exceptions whose
// text is that of one entry. The surest first; their ids are those of every other report.
std::vector<Diagnosis> findings_of_facts(const logs::LogFacts& facts, const LoggedGroups& groups, const LogRecord& record);

// Where nothing else is found: ranks that raised an exception which no other rank's end leads to, all of one type. Its
// headline is that of name_exceptions.
std::optional<Diagnosis> own_exception(const LogRecord& record);

// Says of a rank that raised what it raised, and where: the record has only the code of the error.
void name_exceptions(const LogRecord& record, std::vector<Diagnosis>& findings);

// Whether a finding of the rules rests on ranks of which the log cannot tell whether they are all: of the job, or of a group of its own,
// whose size no log states.
bool needs_all_ranks(const Diagnosis& finding, const LogRecord& record);

struct LogProof {
  std::vector<Rank> ranks;  // empty: of no rank that the log names
  std::string says;
  std::string place;  // job.log:14
};
struct LogStory {
  bool knows_size = false;  // of the job
  std::vector<LogProof> proves;
  std::size_t more_proofs = 0;  // that were left out
  std::vector<std::string> open, next;
};
// Where each rank was, of the stacks that the log has: of several threads of a rank the last that is in the program's own code, which is
// the main one as faulthandler and py-spy list them. Ranks at one place together.
std::vector<LogProof> stacks_of(const logs::LogFacts& facts);

LogStory story_of(const logs::LogFacts& facts, const LoggedGroups& groups, const LogRecord& record,
                  const std::vector<Diagnosis>& findings);

}  // namespace pdsim::scenarios
