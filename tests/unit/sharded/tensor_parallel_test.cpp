// Split linear layers over a group, beside the whole layers in one process.
#include "tests/unit/sharded/sharded_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pdsim {
namespace {

struct Split {
  std::vector<Trained> of_rank;
  std::vector<std::string> calls;  // of rank 0
};

// Three steps of all ranks with the same batches.
Split split_over(int ranks) {
  Split split;
  split.of_rank.resize(static_cast<std::size_t>(ranks));
  sim::WorldSpec world;
  world.ranks_per_node = ranks;
  const RunRecord run = run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    const Result<Trained> mine = train_in_parts(group, nullptr, 0, 3);
    if (mine.ok()) split.of_rank[static_cast<std::size_t>(env.rank)] = *mine;
    return mine.status();
  });
  EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned) << run.ranks[0].log.error.message;
  split.calls = calls_of(run.ranks[0].log);
  return split;
}

void expect_equal(const std::vector<double>& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-12 * std::max(1.0, std::abs(want[i]))) << what << " " << i;
}

TEST(TensorParallel, TrainsToTheParametersOfTheWholeLayers) {
  const Trained whole = split_over(1).of_rank[0];
  for (const int ranks : {2, 4}) {
    const Split split = split_over(ranks);
    for (int rank = 0; rank < ranks; ++rank)
      for (const auto& [name, values] : whole)
        expect_equal(split.of_rank[static_cast<std::size_t>(rank)].at(name), part_of(name, values, rank, ranks), name);
  }
}

TEST(TensorParallel, SumsOnceInForwardAndOnceInBackward) {
  const std::vector<std::string> step{"all_reduce layer down", "all_reduce layer up"};
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), step.begin(), step.end());
  EXPECT_EQ(split_over(2).calls, expected);
}

}  // namespace
}  // namespace pdsim
