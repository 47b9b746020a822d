// The first sequence number at which the ranks of a group disagree. Everything after it is noise.
//
//   compared  operation, root, reduce operation, dtype, count, purpose: the first that differs is named; or a member that
//             never made the call although others did
//   uneven    all_gather_v and reduce_scatter_v: the list of all counts is compared; all_to_all_v: each rank's sends with the
//             receives of its peers, in groups of up to 64; dumps: only the sums (split_sizes.h)
//   culprit   by majority; in a tie there are two camps and no rank is singled out
//   members   of `world` every rank; of another group those that new_group named, and the ranks that ever called in it
//   lost      a rank that died without a record is not compared
//   ring      numbers that some rank's record no longer holds are not compared
#pragma once

#include "scenarios/diagnosis/analysis/split_sizes.h"
#include "scenarios/diagnosis/report.h"

#include <optional>
#include <vector>

namespace pdsim::scenarios {

std::optional<Divergence> first_divergence(const RunRecord& run);
// The first divergence of each group that has one.
std::vector<Divergence> first_divergences(const RunRecord& run);

// The call of this number on all ranks that made it, whose places differ.
Divergence divergence_of_places(const RunRecord& run, const PlacesMet& met);

// Whether two ranks made the same call: everything that is compared, and each rank's sends in an all_to_all_v.
bool same_call(const Call& a, const Call& b);

// Ranks that made the same call.
struct CallCamp {
  const Call* call = nullptr;  // of the first rank; null: they did not make it
  std::vector<Rank> ranks;
};
// Ordered by their first ranks. Cost: linear where the calls differ in operation or count.
std::vector<CallCamp> camps_of(const RankCalls& calls);

}  // namespace pdsim::scenarios
