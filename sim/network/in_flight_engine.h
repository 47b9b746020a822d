// InFlightEngine: simulates the messages of collectives from their plans: at the same times, with the same data and in the same
// order as the exchange, without its batches, matches and tables.
//
//   accepts     calls without splits, of the shared algorithms, where no send is eager
//   falls back  to the exchange, in mid-call if necessary, where that does not hold: calls that meet and differ, rounds of more
//               than 64 steps, operations that end before their plans, ranks that end while another waits for them
//   cost        64 bytes of state for each rank besides its plan and its data (plan_data.h); one event for each message
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
  // Starts the rank's part now. Matching parts have the same channel and tag. `call` must live until it has ended or left.
  void join(int channel, Tag tag, const RankList& ranks, PendingCollective& call);
  // Call when the operation is over, though its plan is not.
  void leave(PendingCollective& call);
  // Call before the exchange handles the end of a rank, and the closing of its connections.
  void rank_ends(Rank rank);
  void clear();

 private:
  using Key = std::pair<int, Tag>;
  InFlightCollective& collective_of(const Key& key, const RankList& ranks, const PendingCollective& first);

  Scheduler& scheduler_;
  Exchange& exchange_;
  const WorldSpec& spec_;
  bool enabled_;
  std::map<Key, InFlightCollective*> joining_;  // collectives that some rank has not joined yet
  std::vector<std::unique_ptr<InFlightCollective>> collectives_;
  std::vector<InFlightCollective*> over_;
};

}  // namespace pdsim::sim
