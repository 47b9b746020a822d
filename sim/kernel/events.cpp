#include "sim/kernel/events.h"

#include <algorithm>
#include <utility>

namespace pdsim::sim {
namespace {

constexpr std::size_t arity = 4;
constexpr std::size_t least_to_sweep = 64;

}  // namespace

void Events::begin_queue(const EventKey& key) {
  const Node node{key.at, key.slot};
  if (std::exchange(hole_, false)) {
    sift_down(0, node);
    return drop_removed();
  }
  heap_.push_back(node);
  sift_up(heap_.size() - 1, node);
}

bool Events::remove(const EventKey& key) {
  if (key.slot >= slots_.size() || !slots_[key.slot].waits || slots_[key.slot].number != key.number) return false;
  slots_[key.slot].waits = false;
  slots_[key.slot].action = nullptr;
  ++removed_;
  fill_hole();
  drop_removed();
  if (removed_ > least_to_sweep && removed_ > size_ / 2) sweep();
  return true;
}

Events::Action Events::take_first() {
  fill_hole();
  Slot& slot = slots_[heap_.front().slot];
  Action action = std::move(slot.action);
  slot.waits = false;
  ++removed_;
  drop_first();
  if (!hole_) drop_removed();
  return action;
}

void Events::clear() {
  heap_.clear();
  hole_ = false;
  slots_.clear();
  free_.clear();
  tails_ = {};
  removed_ = size_ = 0;
}

void Events::move_last_into_hole() {
  hole_ = false;
  const Node last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

void Events::drop_removed() {
  while (!heap_.empty() && !slots_[heap_.front().slot].waits) {
    drop_first();
    if (hole_) move_last_into_hole();
  }
}

// The first was removed. Where its queue ends with it, a hole is left.
void Events::drop_first() {
  Node& first = heap_.front();
  const std::uint32_t slot = first.slot;
  free_.push_back(slot);
  --removed_;
  --size_;
  if (const std::uint32_t next = slots_[slot].next; next != none) {
    first.slot = next;
    return;
  }
  if (Tail& tail = tail_of(first.at); tail.slot == slot) tail.slot = none;
  hole_ = true;
}

// From here on each event has a queue of its own.
void Events::sweep() {
  fill_hole();
  std::vector<Node> left;
  for (const Node& node : heap_)
    for (std::uint32_t at = node.slot, next = none; at != none; at = next) {
      next = slots_[at].next;
      slots_[at].next = none;
      if (!slots_[at].waits) {
        free_.push_back(at);
      } else {
        left.push_back({node.at, at});
      }
    }
  std::sort(left.begin(), left.end(), [this](const Node& a, const Node& b) { return before(a, b); });  // which is a heap
  heap_ = std::move(left);
  size_ = heap_.size();
  removed_ = 0;
  tails_ = {};
}

void Events::sift_up(std::size_t place, const Node& node) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / arity;
    if (!before(node, heap_[parent])) break;
    heap_[place] = heap_[parent];
    place = parent;
  }
  heap_[place] = node;
}

void Events::sift_down(std::size_t place, const Node& node) {
  const std::size_t size = heap_.size();
  Node* const heap = heap_.data();
  while (true) {
    const std::size_t first_child = place * arity + 1;
    if (first_child >= size) break;
    std::size_t least = first_child;
    if (first_child + arity <= size) {
      const std::size_t left = first_child + (before(heap[first_child + 1], heap[first_child]) ? 1U : 0U);
      const std::size_t right = first_child + 2 + (before(heap[first_child + 3], heap[first_child + 2]) ? 1U : 0U);
      least = before(heap[right], heap[left]) ? right : left;
    } else {
      for (std::size_t child = first_child + 1; child < size; ++child)
        if (before(heap[child], heap[least])) least = child;
    }
    if (!before(heap[least], node)) break;
    heap[place] = heap[least];
    place = least;
  }
  heap[place] = node;
}

}  // namespace pdsim::sim
