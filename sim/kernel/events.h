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
    slot.waits = true;
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
  bool empty() {
    fill_hole();
    return heap_.empty();
  }
  EventKey first() {
    fill_hole();
    const Node& node = heap_.front();
    return {node.at, slots_[node.slot].number, node.slot};
  }
  Time first_time() {
    fill_hole();
    return heap_.front().at;
  }
  // Neither is empty.
  bool comes_before(Events& other) {
    const Time mine = first_time(), theirs = other.first_time();
    return mine == theirs ? first().number < other.first().number : mine < theirs;
  }
  Action take_first();
  void clear();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    Action action;
    std::uint64_t number = 0;   // its event, or the last one here
    std::uint32_t next = none;  // in its queue
    bool waits = false;         // false: it is over
  };
  // A queue that still accepts events: no later queue has its time.
  struct Tail {
    Time at{};
    std::uint32_t slot = none;  // its last node; none when the queue does not exist
  };

  struct Node {
    Time at;
    std::uint32_t slot = 0;
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
  bool before(const Node& a, const Node& b) const {
    if (a.at == b.at) [[unlikely]]
      return slots_[a.slot].number < slots_[b.slot].number;
    return a.at < b.at;
  }
  void sift_up(std::size_t place, const Node& node);
  void sift_down(std::size_t place, const Node& node);
  void fill_hole() {
    if (!hole_) return;
    move_last_into_hole();
    drop_removed();
  }
  void move_last_into_hole();
  void drop_first();
  void drop_removed();
  void sweep();

  std::vector<Node> heap_;  // the first of each queue; the first of all is never a removed one
  bool hole_ = false;       // the first of all was taken: the next queue that begins takes its place, which spares it a way up
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  static constexpr unsigned tail_bits = 8;
  std::array<Tail, 1U << tail_bits> tails_{};  // indexed by time; a time evicts the previous one in its place
  std::size_t removed_ = 0;  // still in a queue
  std::size_t size_ = 0;     // removed ones included
};

}  // namespace pdsim::sim
