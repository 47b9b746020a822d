// InFlightEngine: runs collectives without data message by message, from their plans: at the same times and in the same order as the
// exchange, without its batches, matches and tables.
//
//   accepts     calls without data and without splits, of the algorithms that everybody has, where no fault is planned and
//               no send is eager
//   falls back  to the exchange, in the middle if need be, what is not that simple: calls that meet and differ, rounds of more
//               than 64 steps, operations that end before their plans, ranks that end while somebody waits for them
//   cost        64 bytes of state for each rank beside its plan; for each message one event
#pragma once

#include "core/group/rank_list.h"
#include "sim/network/pending_collective.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::sim {

class InFlightEngine {
 public:
  InFlightEngine(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec, bool enabled);
  ~InFlightEngine();
  InFlightEngine(const InFlightEngine&) = delete;
  InFlightEngine& operator=(const InFlightEngine&) = delete;

  bool accepts(const Collective& call) const;
  // The rank starts its part now. Parts that belong together have the same channel and tag. `call` stays until it has ended or
  // left.
  void join(int channel, Tag tag, const RankList& ranks, PendingCollective& call);
  // The operation is over, though its plan is not.
  void leave(PendingCollective& call);
  // Before the exchange does what it does when a rank has ended, and when its connections close.
  void rank_ends(Rank rank);
  void clear();

 private:
  using Key = std::pair<int, Tag>;
  InFlightCollective& collective_of(const Key& key, const RankList& ranks, const PendingCollective& first);

  Scheduler& scheduler_;
  Exchange& exchange_;
  const WorldSpec& spec_;
  bool enabled_;
  std::map<Key, InFlightCollective*> joining_;  // those that some rank has not joined yet
  std::vector<std::unique_ptr<InFlightCollective>> collectives_;
  std::vector<InFlightCollective*> over_;
};

}  // namespace pdsim::sim
