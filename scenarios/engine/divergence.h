// The first sequence number at which the ranks of a group disagree. Everything after it is noise.
//
//   compared  operation, root, reduce operation, dtype, count, purpose: the first that differs is named; or a member that
//             never made the call although others did
//   culprit   by majority; in a tie there are two camps and nobody is singled out
//   members   of `world` every rank; of another group the ranks that ever called in it
//   lost      a rank that died without a record is not compared
//   ring      numbers that some rank's record no longer holds are not compared
#pragma once

#include "scenarios/engine/report.h"

#include <optional>

namespace pdsim::scenarios {

std::optional<Divergence> first_divergence(const RunRecord& run);

// By rank, true for members of the group.
std::vector<char> group_members(const RunRecord& run, std::string_view group);

}  // namespace pdsim::scenarios
