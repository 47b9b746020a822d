// Two trees at once, half of the vector on each.

#include "core/collectives/plans/double_tree.h"

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace pdsim {
namespace {

int lowest_set_bit(Rank rank, int size) {
  int bit = 1;
  while (bit < size && (rank & bit) == 0) bit *= 2;
  return bit;
}

int level_of(Rank rank, int size) {
  return rank == 0 ? tree_levels(size) : std::countr_zero(static_cast<unsigned>(rank));
}

TreePlace place_in_first(Rank rank, int size) {
  TreePlace place;
  place.level = level_of(rank, size);
  const int bit = lowest_set_bit(rank, size);
  int below = bit / 2;
  if (rank == 0) {
    if (size > 1) place.children[1] = below;
    return place;
  }
  place.parent = (rank ^ bit) | (bit * 2);
  if (place.parent >= size) place.parent = rank ^ bit;
  place.parent_level = level_of(place.parent, size);
  if (below > 0) place.children[0] = rank - below;
  while (below > 0 && rank + below >= size) below /= 2;
  if (below > 0) place.children[1] = rank + below;
  return place;
}

}  // namespace

int tree_levels(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1))); }

TreePlace place_in_tree(int tree, Rank rank, int size) {
  if (tree == 0) return place_in_first(rank, size);
  const bool mirrored = size % 2 == 0;
  const auto there = [&](Rank r) { return mirrored ? size - 1 - r : (r + size - 1) % size; };
  const auto back = [&](Rank r) { return r == no_rank ? no_rank : mirrored ? size - 1 - r : (r + 1) % size; };
  TreePlace place = place_in_first(there(rank), size);
  place.parent = back(place.parent);
  for (Rank& child : place.children) child = back(child);
  return place;
}

namespace {

constexpr int double_tree_segments = 8;

// Up and down two trees, half of the vector on each; a rank that is inner in one is a leaf in the other. Pipelined.
//   cost    8 + 2k rounds at most, about 2n bytes sent per rank
//   source  Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009; NCCL
// Everything has its tick: segment s goes up from a rank at s + its level, and down from it at s + 2 levels of the root -
// its level. A rank posts all of a tick's messages, of both trees, in one round, so both ends name the same tick.
Plan double_tree_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  const int top = tree_levels(a.size);
  const TreePlace places[2] = {place_in_tree(0, a.rank, a.size), place_in_tree(1, a.rank, a.size)};
  const auto segment = [&a](int tree, int s) {
    return a.whole().chunk(2 * double_tree_segments, tree * double_tree_segments + s);
  };
  const auto within = [](int s) { return s >= 0 && s < double_tree_segments; };
  std::vector<Step> steps;
  for (int tick = 0; tick < double_tree_segments + 2 * top; ++tick) {
    steps.clear();
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace& place = places[tree];
      for (const Rank child : place.children)
        if (child != no_rank)
          if (const int s = tick - place_in_tree(tree, child, a.size).level; within(s))
            steps.push_back(receive_reduce(child, segment(tree, s)));
      if (place.parent != no_rank) {
        if (const int s = tick - place.level; within(s)) steps.push_back(send(place.parent, segment(tree, s)));
        if (const int s = tick - 2 * top + place.parent_level; within(s))
          steps.push_back(receive(place.parent, segment(tree, s)));
      }
      const int s = tick - 2 * top + place.level;
      for (const Rank child : place.children)
        if (child != no_rank && within(s)) steps.push_back(send(child, segment(tree, s)));
    }
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

// Every edge is busy for one run of ticks, one per segment; a rank's rounds are the ticks that its edges cover.
PlanCost cost_of_double_tree(const PlanArgs& a) {
  if (a.size == 1) return {};
  const int top = tree_levels(a.size);
  PlanCost cost{0, std::int64_t{4} * (a.size - 1) * double_tree_segments, 0};
  for (Rank me = 0; me < a.size; ++me) {
    std::array<int, 12> starts{};
    std::size_t edges = 0;
    std::int64_t sent = 0;
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(tree, me, a.size);
      const std::int64_t half =
          counting::chunks(2 * double_tree_segments, tree * double_tree_segments, double_tree_segments, a.count);
      for (const Rank child : place.children) {
        if (child == no_rank) continue;
        starts[edges++] = place_in_tree(tree, child, a.size).level;
        starts[edges++] = 2 * top - place.level;
        sent += half;
      }
      if (place.parent == no_rank) continue;
      starts[edges++] = place.level;
      starts[edges++] = 2 * top - place.parent_level;
      sent += half;
    }
    std::sort(starts.begin(), starts.begin() + edges);
    std::int64_t rounds = 0;
    for (std::size_t i = 0; i < edges; ++i)
      rounds += i + 1 == edges ? double_tree_segments : std::min(double_tree_segments, starts[i + 1] - starts[i]);
    cost.rounds = std::max(cost.rounds, rounds);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows double_tree() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "double_tree",
                   .plan = double_tree_all_reduce,
                   .closed_form = cost_of_double_tree,
                   .formula = "(2k+S)(alpha + n/S (3/2 beta + gamma)) at most, S = 8 segments"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
