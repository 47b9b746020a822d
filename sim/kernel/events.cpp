#include "sim/kernel/events.h"

#include <algorithm>

namespace pdsim::sim {
namespace {

constexpr std::size_t arity = 4;
constexpr std::size_t least_to_sweep = 64;

}  // namespace

void Events::begin_queue(const EventKey& key) {
  const Node node{order_of(key.at, key.number), key.slot};
  heap_.push_back(node);
  sift_up(heap_.size() - 1, node);
}

bool Events::remove(const EventKey& key) {
  if (key.slot >= slots_.size() || slots_[key.slot].number != key.number) return false;
  slots_[key.slot].number = nobody;
  slots_[key.slot].action = nullptr;
  ++removed_;
  pop_removed();
  if (removed_ > least_to_sweep && removed_ > size_ / 2) sweep();
  return true;
}

Events::Action Events::take_first() {
  Slot& slot = slots_[heap_.front().slot];
  Action action = std::move(slot.action);
  slot.number = nobody;
  ++removed_;
  pop_removed();
  return action;
}

void Events::clear() {
  heap_.clear();
  slots_.clear();
  free_.clear();
  tails_ = {};
  removed_ = size_ = 0;
}

void Events::pop_removed() {
  while (!heap_.empty() && slots_[heap_.front().slot].number == nobody) pop();
}

// Takes out the first, which was removed.
void Events::pop() {
  Node& first = heap_.front();
  free_.push_back(first.slot);
  --removed_;
  --size_;
  if (const std::uint32_t next = slots_[first.slot].next; next != none) {
    first.slot = next;
    first.order = order_of(time_of(first.order), slots_[next].number);
    return;
  }
  if (Tail& tail = tail_of(time_of(first.order)); tail.slot == first.slot) tail.slot = none;
  const Node last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

// From here on each event has a queue of its own.
void Events::sweep() {
  std::vector<Node> left;
  for (const Node& node : heap_)
    for (std::uint32_t at = node.slot, next = none; at != none; at = next) {
      next = slots_[at].next;
      slots_[at].next = none;
      if (slots_[at].number == nobody) {
        free_.push_back(at);
      } else {
        left.push_back({order_of(time_of(node.order), slots_[at].number), at});
      }
    }
  std::sort(left.begin(), left.end(),
            [](const Node& a, const Node& b) { return a.order < b.order; });  // which is a heap
  heap_ = std::move(left);
  size_ = heap_.size();
  removed_ = 0;
  tails_ = {};
}

void Events::sift_up(std::size_t place, const Node& node) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / arity;
    if (node.order >= heap_[parent].order) break;
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
      const std::size_t left = first_child + (heap[first_child + 1].order < heap[first_child].order ? 1U : 0U);
      const std::size_t right = first_child + 2 + (heap[first_child + 3].order < heap[first_child + 2].order ? 1U : 0U);
      least = heap[right].order < heap[left].order ? right : left;
    } else {
      for (std::size_t child = first_child + 1; child < size; ++child)
        if (heap[child].order < heap[least].order) least = child;
    }
    if (heap[least].order >= node.order) break;
    heap[place] = heap[least];
    place = least;
  }
  heap[place] = node;
}

}  // namespace pdsim::sim
