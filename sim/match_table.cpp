#include "sim/match_table.h"

namespace pdsim::sim {
namespace {

constexpr std::size_t least_slots = 16;

std::uint32_t hash_of(const MatchKey& key) {
  const auto channel = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.channel));
  const auto sender = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.sender));
  const auto receiver = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.receiver));
  std::uint64_t h = (sender << 32 | receiver) * 0x9e3779b97f4a7c15ULL;
  h ^= (key.tag + channel * 0xc2b2ae3d27d4eb4fULL) * 0xff51afd7ed558ccdULL;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::uint32_t>(h >> 32);
}

}  // namespace

std::size_t MatchTable::find(const MatchKey& key) const {
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t hash = hash_of(key);
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.queue == none || (slot.hash == hash && queues_[slot.queue].key == key)) return at;
  }
}

std::size_t MatchTable::slot_of(std::uint32_t hash, std::uint32_t queue) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].queue != queue) at = (at + 1) & mask;
  return at;
}

void MatchTable::push(const MatchKey& key, std::uint32_t item) {
  if (2 * (queues_.size() + 1) > slots_.size()) grow();
  if (item >= next_.size()) next_.resize(std::max<std::size_t>(item + 1, 2 * next_.size()), none);
  next_[item] = none;
  Slot& slot = slots_[find(key)];
  if (slot.queue == none) {
    slot = {static_cast<std::uint32_t>(queues_.size()), hash_of(key)};
    queues_.push_back({key, item, item});
    return;
  }
  Queue& queue = queues_[slot.queue];
  next_[queue.last] = item;
  queue.last = item;
}

std::uint32_t MatchTable::front(const MatchKey& key) const {
  if (queues_.empty()) return none;
  const Slot& slot = slots_[find(key)];
  return slot.queue == none ? none : queues_[slot.queue].first;
}

std::uint32_t MatchTable::take(const MatchKey& key) {
  if (queues_.empty()) return none;
  const std::size_t at = find(key);
  if (slots_[at].queue == none) return none;
  Queue& queue = queues_[slots_[at].queue];
  const std::uint32_t item = queue.first;
  queue.first = next_[item];
  if (queue.first == none) erase(at);
  return item;
}

void MatchTable::erase(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t queue = slots_[slot].queue;
  const auto last = static_cast<std::uint32_t>(queues_.size() - 1);
  if (queue != last) {
    slots_[slot_of(hash_of(queues_[last].key), last)].queue = queue;
    queues_[queue] = queues_[last];
  }
  queues_.pop_back();
  // Those behind move up, unless they would come before where they belong.
  std::size_t hole = slot;
  for (std::size_t at = (hole + 1) & mask; slots_[at].queue != none; at = (at + 1) & mask) {
    const std::size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
}

void MatchTable::grow() {
  slots_.assign(std::max(least_slots, 2 * slots_.size()), {});
  for (std::size_t i = 0; i < queues_.size(); ++i)
    slots_[find(queues_[i].key)] = {static_cast<std::uint32_t>(i), hash_of(queues_[i].key)};
}

void MatchTable::clear() {
  slots_.clear();
  queues_.clear();
  next_.clear();
}

std::vector<std::uint32_t> MatchTable::items() const {
  std::vector<std::uint32_t> items;
  for (const MatchKey& key : keys_if([](const MatchKey&) { return true; }))
    for (std::uint32_t at = front(key); at != none; at = next_[at]) items.push_back(at);
  return items;
}

}  // namespace pdsim::sim
