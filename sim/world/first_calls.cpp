#include "sim/world/first_calls.h"

#include <utility>

namespace pdsim::sim {

FirstCalls::Making& FirstCalls::making(const Group& group) {
  Making& making = making_[group.channel];
  if (making.ranks.empty()) {
    making.ranks.assign(static_cast<std::size_t>(group.size), State::absent);
    making.left = group.size;
  }
  return making;
}

void FirstCalls::arrive(Making& making, Rank rank) {
  state_of(making, rank) = State::came;
  if (--making.left > 0) return;
  const std::vector<std::function<void()>> then = std::exchange(making.then, {});
  for (const auto& start_now : then) start_now();
}

bool FirstCalls::come(const Group& group, Rank rank, std::function<void()> then) {
  Making& making = this->making(group);
  if (making.left == 0) return true;
  if (state_of(making, rank) == State::absent) {
    if (group.number.empty()) {  // all ranks have the same list
      arrive(making, rank);
    } else if (rank == 0) {
      state_of(making, rank) = State::writing;
      write_id(group);
    } else {
      state_of(making, rank) = State::reading;
      read_id(group, rank);
    }
  }
  if (making.left == 0) return true;
  making.then.push_back(std::move(then));
  return false;
}

void FirstCalls::write_id(const Group& group) {
  scheduler_.at(scheduler_.now() + latency_, [this, group] {
    Making& making = this->making(group);
    if (state_of(making, 0) != State::writing) return;  // gave up
    ids_[group.number].channel = group.channel;
    arrive(making, 0);
    for (const auto& read : std::exchange(ids_[group.number].readers, {})) read();
  });
}

void FirstCalls::read_id(const Group& group, Rank rank) {
  Id& id = ids_[group.number];
  if (!id.channel) return id.readers.push_back([this, group, rank] { read_id(group, rank); });
  Making& making = this->making(group);
  if (state_of(making, rank) != State::reading) return;  // gave up
  if (*id.channel == group.channel) return arrive(making, rank);
  state_of(making, rank) = State::elsewhere;
}

bool FirstCalls::has_id(const Group& group) {
  if (group.number.empty()) return state_of(making(group), 0) == State::came;
  return ids_[group.number].channel.has_value();
}

void FirstCalls::leave(const Group& group, Rank rank) {
  Making& making = this->making(group);
  if (std::exchange(state_of(making, rank), State::absent) == State::came) ++making.left;
}

void FirstCalls::clear() {
  making_.clear();
  ids_.clear();
}

}  // namespace pdsim::sim
