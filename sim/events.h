// Events: what happens at later times, in the order of their times; at one time in the order in which they were made.
//
//   cost     events of one time that are made one after the other stand in a queue, and the heap holds queues: add is constant
//            for most, else, as take_first, log4 of how many queues there are; remove: a mark, and now and then a sweep
//   numbers  the caller's, each used once, rising
#pragma once

#include "core/base/callback.h"
#include "core/base/quantity.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pdsim::sim {

struct EventKey {
  Time at;
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  auto operator<=>(const EventKey&) const = default;
};

class Events {
 public:
  using Action = Callback<>;

  EventKey add(Time at, std::uint64_t number, Action action);
  // False when it is over already, or was never here.
  bool remove(const EventKey& key);
  bool empty() const { return heap_.empty(); }
  const EventKey& first() const { return heap_.front(); }
  Action take_first();
  void clear();

 private:
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    Action action;
    std::uint64_t number = nobody;  // whose; nobody: it was removed
    std::uint32_t next = none;      // in its queue
  };
  // A queue that takes more: no other of its time was made after it.
  struct Tail {
    Time at{};
    std::uint32_t slot = none;  // its last; none: there is no such queue
  };

  std::uint32_t new_slot();
  void sift_up(std::size_t place, EventKey key);
  void sift_down(std::size_t place, EventKey key);
  void pop();
  void pop_removed();
  void sweep();

  std::vector<EventKey> heap_;  // the first of each queue; the first of all is never a removed one
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::array<Tail, 4> tails_{};
  std::size_t oldest_tail_ = 0;
  std::size_t removed_ = 0;  // still in a queue
  std::size_t size_ = 0;     // removed ones included
};

}  // namespace pdsim::sim
