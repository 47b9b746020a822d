// RankList: the global ranks of a group's members, by group rank. Copies share their memory; the world's own list takes none, so
// a million ranks may each hold one.
#pragma once

#include "core/base/types.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pdsim {

class RankList {
 public:
  // Ranks 0 .. size - 1.
  static RankList of_world(int size) { return RankList(size); }
  RankList(std::initializer_list<Rank> ranks) : RankList(std::vector<Rank>(ranks)) {}
  RankList(std::vector<Rank> ranks)  // NOLINT: a list of ranks is one
      : size_(static_cast<int>(ranks.size())), ranks_(std::make_shared<const std::vector<Rank>>(std::move(ranks))) {}

  int size() const { return size_; }
  bool is_world() const { return ranks_ == nullptr; }
  Rank operator[](Rank group_rank) const {
    return ranks_ ? (*ranks_)[static_cast<std::size_t>(group_rank)] : group_rank;
  }

  // The group rank of a global one; nothing for ranks outside the group.
  std::optional<Rank> find(Rank global) const {
    if (!ranks_) return global >= 0 && global < size_ ? std::optional(global) : std::nullopt;
    const auto found = std::find(ranks_->begin(), ranks_->end(), global);
    if (found == ranks_->end()) return std::nullopt;
    return static_cast<Rank>(found - ranks_->begin());
  }

 private:
  explicit RankList(int size) : size_(size) {}
  int size_ = 0;
  std::shared_ptr<const std::vector<Rank>> ranks_;  // null: the world's
};

}  // namespace pdsim
