// Parts of the text report that other writers show too.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/reports/text/text_report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

std::string outcome_sentence(const Report& report);  // deadlocked in step 2
// The ranks that raised the first error that is not a consequence of another, in the same words. Needs at least one error.
std::vector<Rank> ranks_of_the_cause(const Report& report);
// If no rule speaks: the program's own error, "rank 1: KeyError: 'settings'", else "deadlocked in init; no known cause matches".
std::string unexplained_sentence(const Report& report);
std::string waits_section(const Report& report);     // the waits of each rank
std::string errors_section(const Report& report);    // the errors that ranks reported, by time
std::string state_section(const Report& report);     // state of the ranks
std::string places_section(const Report& report);    // files and lines, where the record has them
std::string watchdog_section(const Report& report);  // the backend's own messages
std::string warnings_section(const Report& report);  // warnings given to ranks; empty without any
std::string replay_line(const Report& report, const TextOptions& options);

}  // namespace pdsim::scenarios
