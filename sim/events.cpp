#include "sim/events.h"

#include <algorithm>

namespace pdsim::sim {
namespace {

constexpr std::size_t arity = 4;
constexpr std::size_t least_to_sweep = 64;

bool before(const EventKey& a, const EventKey& b) { return a.at != b.at ? a.at < b.at : a.number < b.number; }

}  // namespace

std::uint32_t Events::new_slot() {
  ++size_;
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

EventKey Events::add(Time at, std::uint64_t number, Action action) {
  const EventKey key{at, number, new_slot()};
  Slot& slot = slots_[key.slot];
  slot.action = std::move(action);
  slot.number = number;
  slot.next = none;
  for (Tail& tail : tails_)
    if (tail.at == at && tail.slot != none) {
      slots_[tail.slot].next = key.slot;
      tail.slot = key.slot;
      return key;
    }
  tails_[oldest_tail_] = {at, key.slot};
  oldest_tail_ = (oldest_tail_ + 1) % tails_.size();
  heap_.push_back(key);
  sift_up(heap_.size() - 1, key);
  return key;
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
  EventKey& first = heap_.front();
  free_.push_back(first.slot);
  --removed_;
  --size_;
  if (const std::uint32_t next = slots_[first.slot].next; next != none) {
    first.slot = next;
    first.number = slots_[next].number;
    return;
  }
  for (Tail& tail : tails_)
    if (tail.slot == first.slot) tail.slot = none;
  const EventKey last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

// From here on each event has a queue of its own.
void Events::sweep() {
  std::vector<EventKey> left;
  for (const EventKey& key : heap_)
    for (std::uint32_t at = key.slot, next = none; at != none; at = next) {
      next = slots_[at].next;
      slots_[at].next = none;
      if (slots_[at].number == nobody) {
        free_.push_back(at);
      } else {
        left.push_back({key.at, slots_[at].number, at});
      }
    }
  std::sort(left.begin(), left.end(), before);  // which is a heap
  heap_ = std::move(left);
  size_ = heap_.size();
  removed_ = 0;
  tails_ = {};
}

void Events::sift_up(std::size_t place, EventKey key) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / arity;
    if (!before(key, heap_[parent])) break;
    heap_[place] = heap_[parent];
    place = parent;
  }
  heap_[place] = key;
}

void Events::sift_down(std::size_t place, EventKey key) {
  while (true) {
    const std::size_t first_child = place * arity + 1;
    if (first_child >= heap_.size()) break;
    const std::size_t end = std::min(first_child + arity, heap_.size());
    std::size_t least = first_child;
    for (std::size_t child = first_child + 1; child < end; ++child)
      if (before(heap_[child], heap_[least])) least = child;
    if (!before(heap_[least], key)) break;
    heap_[place] = heap_[least];
    place = least;
  }
  heap_[place] = key;
}

}  // namespace pdsim::sim
