// NCCL's two trees over p ranks: a rank that has children in one is a leaf in the other, except at the ends.
//
//   first    a rank's lowest set bit is its level; the parent is the rank one level up, or the next one down where that
//            does not exist; rank 0 is the root and has one child
//   second   the first one mirrored where p is even, shifted by one rank where it is odd
//   source   NCCL, src/graph/trees.cc
#pragma once

#include "core/base/types.h"

#include <array>

namespace pdsim {

struct TreePlace {
  Rank parent = no_rank;                           // no_rank at the root
  std::array<Rank, 2> children{no_rank, no_rank};  // no_rank where there is none
  int level = 0;                                   // above its children's, below its parent's
  int parent_level = 0;
};

TreePlace place_in_tree(int tree, Rank rank, int size);  // tree is 0 or 1
int tree_levels(int size);                               // the root's level

}  // namespace pdsim
