// Events: actions at later times, ordered by time; events of one time fire in creation order.
//
//   cost     consecutive events of one time share a queue, and the heap holds queues: add is constant for most, otherwise
//            log4 of the number of queues, as take_first is; remove sets a mark, and sweeps now and then
//   numbers  the caller's, each used once, ascending
//   times    not negative
#pragma once

#include "core/base/callback.h"
#include "core/base/quantity.h"

#include <array>
#include <cstdint>
#include <utility>
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

  template <class Function>
  EventKey add(Time at, std::uint64_t number, Function&& action) {
    const EventKey key{at, number, new_slot()};
    Slot& slot = slots_[key.slot];
    slot.action = Action(std::forward<Function>(action));
    slot.number = number;
    slot.next = none;
    Tail& tail = tail_of(at);
    if (tail.at == at && tail.slot != none) {
      slots_[tail.slot].next = key.slot;
    } else {
      begin_queue(key);
    }
    tail = {at, key.slot};
    return key;
  }
  // False when the event is over already, or was never added.
  bool remove(const EventKey& key);
  bool empty() const { return heap_.empty(); }
  EventKey first() const {
    const Node& node = heap_.front();
    return {time_of(node.order), static_cast<std::uint64_t>(node.order), node.slot};
  }
  Time first_time() const { return time_of(heap_.front().order); }
  Action take_first();
  void clear();

 private:
  // A time and a number in one, so that comparing two needs no branch.
  __extension__ using Order = unsigned __int128;
  static Order order_of(Time at, std::uint64_t number) {
    return static_cast<Order>(static_cast<std::uint64_t>(at.ps)) << 64U | number;
  }
  static Time time_of(Order order) { return {static_cast<std::int64_t>(order >> 64U)}; }

  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    Action action;
    std::uint64_t number = nobody;  // its event; nobody: it was removed
    std::uint32_t next = none;      // in its queue
  };
  // A queue that still accepts events: no later queue has its time.
  struct Tail {
    Time at{};
    std::uint32_t slot = none;  // its last node; none when the queue does not exist
  };

  struct Node {
    Order order;
    std::uint32_t slot = 0;
    bool operator==(const Node&) const = default;
  };
  std::uint32_t new_slot() {
    ++size_;
    if (free_.empty()) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  Tail& tail_of(Time at) {
    return tails_[static_cast<std::uint64_t>(at.ps) * 0x9e3779b97f4a7c15ULL >> (64U - tail_bits)];
  }
  void begin_queue(const EventKey& key);
  void sift_up(std::size_t place, const Node& node);
  void sift_down(std::size_t place, const Node& node);
  void pop();
  void pop_removed();
  void sweep();

  std::vector<Node> heap_;  // the first of each queue; the first of all is never a removed one
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  static constexpr unsigned tail_bits = 8;
  std::array<Tail, 1U << tail_bits> tails_{};  // indexed by time; a time evicts the previous one in its place
  std::size_t removed_ = 0;  // still in a queue
  std::size_t size_ = 0;     // removed ones included
};

}  // namespace pdsim::sim
