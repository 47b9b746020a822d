// An algorithm of the caller's own is proven before its first run, and a wrong one ends in an error in every engine.
#include "tests/helpers/planted_algorithms.h"
#include "tests/unit/sim/engines.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::sim {
namespace {

TEST(OwnAlgorithm, IsRefusedWithASentenceThatNamesItsMistake) {
  for (const char* backend : {"gloo", "nccl", "ideal"})
    for (const int ranks : {2, 3}) {
      const RunRecord run = with_group(
          world(ranks, backend), [](RankEnvironment&, ProcessGroup& g) { return planted::try_own_algorithms(g); });
      for (const RankResult& rank : run.ranks)
        EXPECT_EQ(rank.log.end, RankEnd::returned) << backend << ": " << rank.log.error.message;
    }
}

// Without data, so that the time is worked out from the plan (ideal), or message by message (gloo).
TEST(OwnAlgorithm, EndsInTheSameErrorWhereNoDataAreMoved) {
  for (const char* backend : {"ideal", "gloo"})
    for (const planted::PlantedAlgorithm& one : planted::planted_algorithms()) {
      if (one.run.empty()) continue;
      const RunRecord run = with_group(world(2, backend), [&](RankEnvironment&, ProcessGroup& g) {
        CallOptions options;
        options.own_algorithm = &one.row;
        options.unproven = true;
        return wait(g.all_reduce({nullptr, DType::f32, 4}, ReduceOp::sum, options));
      });
      for (const RankResult& rank : run.ranks) {
        EXPECT_EQ(rank.log.error.code, Code::invalid_argument) << one.row.name;
        EXPECT_NE(rank.log.error.message.find(one.run), std::string::npos) << rank.log.error.message;
      }
    }
}

TEST(OwnAlgorithm, ThatIsRightRunsInGroupsOfEverySizeItIsProvenFor) {
  for (const int ranks : {1, 2, 7, 300}) {
    const RunRecord run = with_group(world(ranks, "ideal"), [&](RankEnvironment&, ProcessGroup& g) {
      CallOptions options;
      options.own_algorithm = &planted::right_algorithm();
      return wait(g.all_reduce({nullptr, DType::f32, 4}, ReduceOp::sum, options));
    });
    EXPECT_EQ(run.ranks.back().log.end, RankEnd::returned) << run.ranks.back().log.error.message;
  }
}

// Right for two ranks on each node, and for nothing else.
Plan only_for_pairs(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int mask = 1; a.ranks_per_node == 2 && mask < a.size; mask *= 2)
    co_yield round(send(a.rank ^ mask, a.whole()), receive_reduce(a.rank ^ mask, a.whole()));
}

TEST(OwnAlgorithm, IsProvenForThePlacementOfItsGroup) {
  const Algorithm own{CollectiveKind::all_reduce, "only_for_pairs", only_for_pairs};
  for (const int nodes : {1, 2}) {
    WorldSpec spec = world(4 / nodes, "ideal");
    spec.nodes = nodes;
    spec.two_level = nodes > 1;
    const RunRecord run = with_group(spec, [&](RankEnvironment&, ProcessGroup& g) {
      CallOptions options;
      options.own_algorithm = &own;
      return wait(g.all_reduce({nullptr, DType::f32, 4}, ReduceOp::sum, options));
    });
    EXPECT_EQ(run.ranks[0].log.error.message,
              nodes == 2
                  ? ""
                  : "the plan checker refuses all_reduce only_for_pairs with 4 ranks: element 0 of rank 0 lacks the "
                    "contribution of rank 1");
  }
}

}  // namespace
}  // namespace pdsim::sim
