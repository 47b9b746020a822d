#include "scenarios/diagnosis/outcome.h"

#include "scenarios/records/log_view.h"
#include "scenarios/records/rank_end.h"

#include <algorithm>

namespace pdsim::scenarios {

bool is_timeout(Code code) {
  return code == Code::timeout || code == Code::store_timeout || code == Code::rendezvous_timeout ||
         code == Code::watchdog_timeout;
}

bool is_consequence(Code code) {
  return code == Code::peer_closed || code == Code::cancelled || code == Code::group_unusable ||
         code == Code::process_aborted || code == Code::store_closed;
}

const RankError& first_cause(const std::vector<RankError>& errors) {
  const auto cause =
      std::find_if(errors.begin(), errors.end(), [](const RankError& e) { return !is_consequence(e.code); });
  return cause == errors.end() ? errors.front() : *cause;
}

bool end_the_same(const RankError& a, const RankError& b) {
  return a.code == b.code && a.exit_status == b.exit_status && a.exception == b.exception;
}

Time moment_of(const RunRecord& run) { return run.deadlocked ? run.deadlock_at : Time::max(); }

std::vector<RankError> errors_of(const RunRecord& run) {
  std::vector<RankError> errors;
  const Time moment = moment_of(run);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const RankLog& log = run.ranks[r].log;
    if (log.end != RankEnd::raised && log.end != RankEnd::died) continue;
    if (log.ended > moment) continue;
    errors.push_back({static_cast<Rank>(r), log.error.code, log.error.message, log.error_site.step, log.error_site.op, log.ended,
                      exit_status_of(log.error), std::string(fact(log.error.facts, exception_fact))});
  }
  std::stable_sort(errors.begin(), errors.end(), [](const RankError& a, const RankError& b) { return a.at < b.at; });
  return errors;
}

Outcome outcome_of(const RunRecord& run, const std::vector<RankError>& errors) {
  // If a watchdog ended a rank before the rest stood still, the outcome is a timeout: a launcher has seen the process end.
  const auto by_watchdog = [](const RankError& e) { return e.code == Code::watchdog_timeout; };
  if (run.deadlocked && std::any_of(errors.begin(), errors.end(), by_watchdog)) return Outcome::timeout;
  if (run.deadlocked) return Outcome::deadlock;
  if (errors.empty()) return Outcome::ok;
  return is_timeout(first_cause(errors).code) ? Outcome::timeout : Outcome::error;
}

const Call* call_held_in(const RunRecord& run, Rank rank) {
  const RankLog& log = log_of(run, rank);
  const Time moment = moment_of(run);
  return run.deadlocked && is_running_at(log, moment) ? sits_in(log, moment) : nullptr;
}

}  // namespace pdsim::scenarios
