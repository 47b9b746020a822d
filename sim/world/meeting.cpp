#include "sim/world/meeting.h"

namespace pdsim::sim {

void Meeting::arrive(Rank rank, const std::vector<Rank>& stale) {
  if (!arrived_[static_cast<std::size_t>(rank)]) ++count_;  // else it creates the group again
  arrived_[static_cast<std::size_t>(rank)] = true;
  for (const Rank stale_peer : stale) refused_.insert({stale_peer, rank});
  if (count_ == arrived_.size()) wake_all();
}

bool Meeting::complete_for(Rank rank) const {
  if (count_ != arrived_.size()) return false;
  const auto refused = refused_.lower_bound({rank, 0});
  return refused == refused_.end() || refused->first != rank;
}

std::vector<Rank> Meeting::missing_for(Rank rank) const {
  std::vector<Rank> missing;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    const auto peer = static_cast<Rank>(i);
    if (peer != rank && (!arrived_[i] || refused_.count({rank, peer}) != 0)) missing.push_back(peer);
  }
  return missing;
}

void Meeting::wake_all() {
  for (const auto& [rank, event] : waiting_) event->set();
}

}  // namespace pdsim::sim
