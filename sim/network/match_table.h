// MatchTable: waiting messages, by sender, receiver and tag. Messages are identified by numbers.
//
//   cost   one lookup for any operation on the queues of a key: constant. An entry outlives its queues until the table grows,
//          so that the next message of its key finds it
//   order  where it matters, entries are visited in the order of their keys
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

// Linked through the messages themselves, in insertion order.
struct MatchQueue {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t first = none, last = none;
  bool empty() const { return first == none; }

  // `next_of(id)` refers to the link to the next message.
  template <class NextOf>
  void push(std::uint32_t id, NextOf next_of) {
    next_of(id) = none;
    (empty() ? first : next_of(last)) = id;
    last = id;
  }
  template <class NextOf>
  std::uint32_t pop(NextOf next_of) {
    const std::uint32_t id = first;
    first = next_of(id);
    return id;
  }
  // Removes the messages for which `unwanted` holds.
  template <class NextOf, class Predicate>
  void remove_if(NextOf next_of, Predicate unwanted) {
    MatchQueue kept;
    for (std::uint32_t id = first, next = none; id != none; id = next) {
      next = next_of(id);
      if (!unwanted(id)) kept.push(id, next_of);
    }
    *this = kept;
  }
};

struct MatchEntry {
  MatchKey key;
  MatchQueue waiting;    // unmatched: sends or receives, never both
  MatchQueue in_flight;  // eager sends on their way, and later sends
  bool sends = false;    // kind of the waiting messages
  bool used = false;

  bool has_sends() const { return sends && !waiting.empty(); }
  bool has_receives() const { return !sends && !waiting.empty(); }
  bool empty() const { return waiting.empty() && in_flight.empty(); }
};

class MatchTable {
 public:
  // Created if missing; the reference is valid until the next call.
  MatchEntry& at(const MatchKey& key) {
    if (slots_.empty()) rebuild();
    MatchEntry* entry = find(key);
    if (entry->used) return *entry;
    if (2 * (used_ + 1) > slots_.size()) {
      rebuild();
      entry = find(key);
    }
    ++used_;
    entry->used = true;
    entry->key = key;
    return *entry;
  }
  void clear() {
    slots_.clear();
    used_ = 0;
  }
  std::size_t size() const { return slots_.size(); }  // places, for tests
  // Visits all entries, in no particular order.
  template <class Visit>
  void for_each(Visit visit) {
    for (MatchEntry& entry : slots_)
      if (entry.used && !entry.empty()) visit(entry);
  }
  // The keys of the non-empty entries for which `wanted` holds, in order.
  template <class Predicate>
  std::vector<MatchKey> keys_if(Predicate wanted) const {
    std::vector<MatchKey> keys;
    for (const MatchEntry& entry : slots_)
      if (entry.used && !entry.empty() && wanted(entry)) keys.push_back(entry.key);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

 private:
  static std::size_t hash_of(const MatchKey& key) {
    const auto wide = [](int part) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(part)); };
    std::uint64_t h = (wide(key.sender) << 32U | wide(key.receiver)) * 0x9e3779b97f4a7c15ULL;
    h ^= (key.tag + wide(key.channel) * 0xc2b2ae3d27d4eb4fULL) * 0xff51afd7ed558ccdULL;
    h ^= h >> 29U;
    h *= 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::size_t>(h >> 32U);
  }
  // The key's entry, or the free one for it.
  MatchEntry* find(const MatchKey& key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash_of(key) & mask;
    while (slots_[place].used && slots_[place].key != key) place = (place + 1) & mask;
    return &slots_[place];
  }
  void rebuild();

  std::vector<MatchEntry> slots_;  // a power of two, at most half of them used
  std::size_t used_ = 0;
};

}  // namespace pdsim::sim
