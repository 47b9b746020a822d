// Pool: objects of one kind, identified by small numbers and reused. They never move, so references stay valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pdsim::sim {

template <class T>
class Pool {
 public:
  // The object is as its last user left it, or new.
  std::uint32_t take() {
    if (free_.empty()) grow();
    const std::uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  void give_back(std::uint32_t id) { free_.push_back(id); }
  T& operator[](std::uint32_t id) { return chunks_[id / chunk][id % chunk]; }
  const T& operator[](std::uint32_t id) const { return chunks_[id / chunk][id % chunk]; }
  // Counts all objects ever created, taken or not.
  std::uint32_t size() const { return static_cast<std::uint32_t>(chunks_.size()) * chunk; }
  void clear() {
    chunks_.clear();
    free_.clear();
  }

 private:
  static constexpr std::uint32_t chunk = 64;
  void grow() {
    const std::uint32_t first = size();
    chunks_.push_back(std::make_unique<T[]>(chunk));
    for (std::uint32_t i = chunk; i > 0; --i) free_.push_back(first + i - 1);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace pdsim::sim
