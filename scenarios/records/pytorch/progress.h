// What the dumps of a job tell beyond their entries: which calls are done although their state does not say so, and how far a rank came in each group when its calls are not listed.
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

// The rows of pg_status, with their groups as the run calls them. `group_of` answers by the entries of the rank, then by those of others
// under the same id, then by the only group or the one whose name is that id; empty where none fits.
struct ProgressRow {
  Rank rank = 0;
  notes::GroupProgress progress;
};
using GroupOf = std::function<std::string(const Dump& dump, const GroupStatus& status)>;
std::vector<ProgressRow> progress_of(const std::vector<Dump>& dumps, const GroupOf& group_of);

// Notes how far each rank came, of groups in which the numbers of pg_status are those of the collectives that are listed.
void note_progress(const std::vector<ProgressRow>& rows, RunRecord& run);

// A timeout ends all calls of its rank, and the recorder takes them for completed. Takes those that took their whole
// timeout for open, and of those that are over since that moment the ones that completed on no rank.
void settle_aborted(RunRecord& run);

// Of a library whose calls end by retiring, which a call that failed does too: a call that is over on one rank and open on another may
// have failed there, and its message says so.
void doubt_retired(RunRecord& run);

}  // namespace pdsim::scenarios::pytorch
