#include "core/collectives/plans.h"
#include "core/collectives/tree_pair.h"

#include <bit>
#include <vector>

namespace pdsim {
namespace {

int lowest_bit(Rank rank, int size) {
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
  const int bit = lowest_bit(rank, size);
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

// Everything has its tick: segment s goes up from a rank at s + its level, and down from it at s + 2 levels of the root -
// its level. A rank posts all of a tick's messages, of both trees, in one round, so both ends name the same tick.
Plan double_tree_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  const int top = tree_levels(a.size);
  const TreePlace places[2] = {place_in_tree(0, a.rank, a.size), place_in_tree(1, a.rank, a.size)};
  const auto segment = [&a](int tree, int s) { return a.whole().chunk(2 * tree_segments, tree * tree_segments + s); };
  const auto within = [](int s) { return s >= 0 && s < tree_segments; };
  std::vector<Step> steps;
  for (int tick = 0; tick < tree_segments + 2 * top; ++tick) {
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

}  // namespace pdsim
