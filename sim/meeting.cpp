#include "sim/meeting.h"

namespace pdsim::sim {

void Meeting::arrive(Rank rank, const std::vector<Rank>& ghosts) {
  if (!arrived_[static_cast<std::size_t>(rank)]) ++count_;  // else it makes the group anew
  arrived_[static_cast<std::size_t>(rank)] = true;
  for (const Rank ghost : ghosts) snubs_.insert({ghost, rank});
  if (count_ == arrived_.size()) wake_all();
}

bool Meeting::complete_for(Rank rank) const {
  if (count_ != arrived_.size()) return false;
  const auto snub = snubs_.lower_bound({rank, 0});
  return snub == snubs_.end() || snub->first != rank;
}

std::vector<Rank> Meeting::missing_for(Rank rank) const {
  std::vector<Rank> missing;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    const auto peer = static_cast<Rank>(i);
    if (peer != rank && (!arrived_[i] || snubs_.count({rank, peer}) != 0)) missing.push_back(peer);
  }
  return missing;
}

void Meeting::wake_all() {
  for (const auto& [rank, event] : waiting_) event->set();
}

}  // namespace pdsim::sim
