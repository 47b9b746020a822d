// Small worlds, all of them: every algorithm, 1 to 5 ranks, every root, counts around the number of ranks.
#include "tests/property/numbers.h"
#include "tests/property/properties.h"
#include "tests/property/worlds/sim_world.h"

#include <gtest/gtest.h>

namespace pdsim::property {
namespace {

TEST(SmallWorlds, EveryAlgorithmGivesTheReferenceForEveryRootAndCount) {
  SimWorld world;
  int ran = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (row(algorithm.kind).point_to_point) continue;
    for (int ranks = 1; ranks <= 5; ++ranks)
      for (Rank root = 0; root < (row(algorithm.kind).rooted ? ranks : 1); ++root)
        for (const std::int64_t count : {0, 1, ranks - 1, ranks, ranks + 1}) {
          CollectiveCase c;
          c.kind = algorithm.kind;
          c.algorithm = algorithm.name;
          c.ranks = ranks;
          c.root = root;
          c.count = count;
          c.data = static_cast<std::uint64_t>(ran);
          c = valid(c);
          const RankBuffers inputs = inputs_of(c);
          EXPECT_EQ(wrong_ranks(c, inputs, world.run(c, inputs)), "") << to_text(c);
          ++ran;
        }
  }
  EXPECT_GT(ran, 1500);
}

TEST(SmallWorlds, EveryOpAndDtypeThatExistsIsRightInEveryReducingCollective) {
  SimWorld world;
  for (const CollectiveRow& kind : collective_table) {
    if (!kind.reduces) continue;
    for (const DTypeRow& dtype : dtypes)
      for (std::size_t op = 0; op < reduce_op_names.size(); ++op)
        for (const Numbers numbers : {Numbers::exact, Numbers::rounding, Numbers::special}) {
          CollectiveCase c;
          c.kind = kind.kind;
          c.ranks = 3;
          c.count = 5;
          c.dtype = dtype.dtype;
          c.op = static_cast<ReduceOp>(op);
          c.numbers = numbers;
          if (!(valid(c) == c)) continue;
          const RankBuffers inputs = inputs_of(c);
          EXPECT_EQ(wrong_ranks(c, inputs, world.run(c, inputs)), "") << to_text(c);
        }
  }
}

}  // namespace
}  // namespace pdsim::property
