// MatchTable: queues of messages that wait for their other ends, by who sends what to whom. Messages are named by numbers.
//
//   cost    push, take and front: constant; the others: by how many queues there are, which live while something waits in them
//   order   within a queue that of the pushes; of queues, where it matters, that of their keys
#pragma once

#include "core/base/types.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pdsim::sim {

struct MatchKey {
  int channel = 0;
  Rank sender = no_rank;
  Rank receiver = no_rank;
  Tag tag = 0;
  auto operator<=>(const MatchKey&) const = default;
};

class MatchTable {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void push(const MatchKey& key, std::uint32_t item);
  std::uint32_t take(const MatchKey& key);         // none when nothing waits
  std::uint32_t front(const MatchKey& key) const;  // likewise
  void clear();
  std::vector<std::uint32_t> items() const;  // in the order of their keys
  // Those for which `wanted` holds, in order.
  template <class Predicate>
  std::vector<MatchKey> keys_if(Predicate wanted) const {
    std::vector<MatchKey> keys;
    for (const Queue& queue : queues_)
      if (wanted(queue.key)) keys.push_back(queue.key);
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  // Takes out those for which `unwanted` holds.
  template <class Predicate>
  void remove_if(Predicate unwanted) {
    for (std::size_t i = 0; i < queues_.size();)
      if (filter(queues_[i], unwanted)) {
        ++i;
      } else {
        erase(find(queues_[i].key));  // the last queue takes its place
      }
  }

 private:
  struct Queue {
    MatchKey key;
    std::uint32_t first = none, last = none;
  };
  struct Slot {
    std::uint32_t queue = none;
    std::uint32_t hash = 0;
  };

  // False when nothing is left in the queue.
  template <class Predicate>
  bool filter(Queue& queue, Predicate unwanted) {
    std::uint32_t last = none;
    for (std::uint32_t at = queue.first; at != none; at = next_[at]) {
      if (unwanted(at)) continue;
      (last == none ? queue.first : next_[last]) = at;
      last = at;
    }
    queue.last = last;
    if (last != none) next_[last] = none;
    return last != none;
  }
  // The slot of the key, or of nobody, where it would be.
  std::size_t find(const MatchKey& key) const;
  std::size_t slot_of(std::uint32_t hash, std::uint32_t queue) const;
  void erase(std::size_t slot);
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> next_;  // by item: the one behind it
};

}  // namespace pdsim::sim
