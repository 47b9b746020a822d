// How a run ended: ok, deadlock, timeout or error, and the errors by time.
//
//   deadlock  the world reports it: only watchdogs were left (real worlds: no progress within --patience)
//   timeout   the first error that is not a consequence of another is one of the four timeouts of errors.h
//   error     it is any other error
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

bool is_timeout(Code code);
// An error that a rank has only because another rank ended or gave up.
bool is_consequence(Code code);

// The first error that is not a consequence of another, else the first. Two real processes may record their errors in either
// order. Needs at least one error.
const RankError& first_cause(const std::vector<RankError>& errors);

// Whether code, exit status and type of exception are equal.
bool end_the_same(const RankError& a, const RankError& b);

// The errors that escaped from ranks, the earliest first; for a deadlock only those before it.
std::vector<RankError> errors_of(const RunRecord& run);
Outcome outcome_of(const RunRecord& run, const std::vector<RankError>& errors);

// The moment at which ranks count as blocked: the deadlock, else the end of the record.
Time moment_of(const RunRecord& run);

// The call that keeps a rank of a deadlocked run; null: none does, or the run is not deadlocked.
const Call* call_held_in(const RunRecord& run, Rank rank);

}  // namespace pdsim::scenarios
