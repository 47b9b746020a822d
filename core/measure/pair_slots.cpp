#include "core/measure/pair_slots.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim {
namespace {

using Slots = std::vector<std::vector<RankPair>>;
using Ranks = std::vector<Rank>;

// By node, in the order of their first ranks.
std::vector<Ranks> ranks_by_node(std::span<const std::int64_t> nodes) {
  std::map<std::int64_t, std::size_t> places;
  std::vector<Ranks> ranks;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto [found, first] = places.emplace(nodes[rank], ranks.size());
    if (first) ranks.emplace_back();
    ranks[found->second].push_back(static_cast<Rank>(rank));
  }
  return ranks;
}

std::vector<RankPair> pairs_within(const Ranks& ranks) {
  std::vector<RankPair> pairs;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t j = i + 1; j < ranks.size(); ++j) pairs.push_back({ranks[i], ranks[j]});
  return pairs;
}

std::vector<RankPair> pairs_between(const Ranks& ours, const Ranks& theirs) {
  std::vector<RankPair> pairs;
  for (const Rank a : ours)
    for (const Rank b : theirs) pairs.push_back({std::min(a, b), std::max(a, b)});
  return pairs;
}

// The lists run beside each other, each one pair a slot.
void add_beside_each_other(const std::vector<std::vector<RankPair>>& lists, Slots& slots) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (std::size_t i = 0; i < longest; ++i) {
    slots.emplace_back();
    for (const auto& list : lists)
      if (i < list.size()) slots.back().push_back(list[i]);
  }
}

}  // namespace

std::vector<std::vector<RankPair>> pair_slots(std::span<const std::int64_t> nodes) {
  std::vector<Ranks> ranks = ranks_by_node(nodes);
  Slots slots;
  std::vector<std::vector<RankPair>> lists;
  for (const Ranks& node : ranks) lists.push_back(pairs_within(node));
  add_beside_each_other(lists, slots);
  if (ranks.size() % 2 == 1) ranks.emplace_back();  // the rank that is paired with it rests
  // The circle method: the first node stays, the others go round.
  for (std::size_t round = 0; round + 1 < ranks.size(); ++round) {
    lists.clear();
    for (std::size_t i = 0; i < ranks.size() / 2; ++i)
      lists.push_back(pairs_between(ranks[i], ranks[ranks.size() - 1 - i]));
    add_beside_each_other(lists, slots);
    std::rotate(ranks.begin() + 1, ranks.end() - 1, ranks.end());
  }
  return slots;
}

}  // namespace pdsim
