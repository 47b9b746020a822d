// Flows: collectives without data, in flight: what plan runners and the exchange would do with them, message by message, at the
// same times and in the same order, without batches, posted messages and tables.
//
//   takes       calls without data and without splits, of the algorithms that everybody has, where no fault is planned and
//               no send is eager
//   gives back  to the exchange, in the middle if need be, what is not that simple: calls that meet and differ, rounds of more
//               than 64 steps, operations that end before their plans, ranks that end while somebody waits for them
//   cost        a lane of 64 bytes for each rank beside its plan; for each message one event
#pragma once

#include "core/group/rank_list.h"
#include "sim/planned_call.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::sim {

class Flows {
 public:
  Flows(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec, bool disturbed);
  ~Flows();
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;

  bool takes(const Collective& call) const;
  // The rank starts its part now. Parts that belong together have the same channel and tag. `call` stays until it has ended or
  // left.
  void join(int channel, Tag tag, const RankList& ranks, PlannedCall& call);
  // The operation is over, though its plan is not.
  void leave(PlannedCall& call);
  // Before the exchange does what it does when a rank has ended, and when its connections close.
  void rank_ends(Rank rank);
  void clear();

 private:
  using Key = std::pair<int, Tag>;
  Flow& flow_of(const Key& key, const RankList& ranks, const PlannedCall& first);

  Scheduler& scheduler_;
  Exchange& exchange_;
  const WorldSpec& spec_;
  bool possible_;
  std::map<Key, Flow*> joining_;  // those that some rank has not joined yet
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<Flow*> over_;
};

}  // namespace pdsim::sim
