// Meeting: the ranks of one group that have connected while the group is being created.
//
//   cost   O(1) a rank, whatever the size of the group: a rank connects to all others at once, except to stale peers (whose
//          address it read from an earlier launch)
#pragma once

#include "core/base/types.h"
#include "core/runtime/runtime.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pdsim::sim {

class Meeting {
 public:
  explicit Meeting(int size) : arrived_(static_cast<std::size_t>(size)) {}

  // `rank` connects to all but the `stale` peers, and wakes the ranks with no missing peers left.
  void arrive(Rank rank, const std::vector<Rank>& stale);
  // All others have connected to `rank`.
  bool complete_for(Rank rank) const;
  // The ranks that have not, in order.
  std::vector<Rank> missing_for(Rank rank) const;

  void wait(Rank rank, Event& event) { waiting_[rank] = &event; }
  void leave(Rank rank) { waiting_.erase(rank); }
  void wake_all();

 private:
  std::vector<bool> arrived_;
  std::size_t count_ = 0;
  std::set<std::pair<Rank, Rank>> refused_;  // (rank, missing peer): the peer arrived, but connected elsewhere
  std::map<Rank, Event*> waiting_;
};

}  // namespace pdsim::sim
