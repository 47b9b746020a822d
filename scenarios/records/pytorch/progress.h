// Conclusions from a job's dumps beyond their entries: calls that are done although their state does not say so, and each rank's
// progress in groups whose calls are not listed.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/records/pytorch/dump.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::pytorch {

// Whether `retired` is the only sign of completion in these dumps: Gloo and TorchComms record no events, so their
// entries stay `scheduled`.
bool ends_by_retiring(const std::vector<Dump>& dumps);

// The rows of pg_status, with the run's names for their groups. `group_of` looks at the entries of the rank, then at those of
// others under the same id, then for the only group or the one whose name is that id; empty where none matches.
struct ProgressRow {
  Rank rank = 0;
  notes::GroupProgress progress;
};
using GroupOf = std::function<std::string(const Dump& dump, const GroupStatus& status)>;
std::vector<ProgressRow> progress_of(const std::vector<Dump>& dumps, const GroupOf& group_of);

// Notes each rank's progress, for groups in which the numbers of pg_status are those of the listed collectives.
void note_progress(const std::vector<ProgressRow>& rows, RunRecord& run);

// A timeout ends all calls of its rank, and the recorder takes them as completed. Reopens those that took their whole timeout,
// and among those that ended since that moment the ones that completed on no rank.
void settle_aborted(RunRecord& run);

// For a library whose calls end by retiring, which failed calls do too: a call that is over on one rank and open on another may
// have failed there, and its message says so.
void doubt_retired(RunRecord& run);

}  // namespace pdsim::scenarios::pytorch
