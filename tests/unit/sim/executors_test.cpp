// How many collectives of a group run at once, in each library: NCCL's one stream, Gloo's two threads, MPI's one.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pdsim::sim {
namespace {

// Ranks put `calls` of two bytes under way, which cost latencies alone, and then wait for all of them.
Time all_reduces(const std::string& backend, int calls) {
  Time took{};
  const RunRecord r = with_group(world(2, backend), [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    const Time began = env.runtime.now();
    std::vector<Result<WorkPtr>> works;
    CallOptions options;
    options.algorithm = "ring";
    for (int i = 0; i < calls; ++i) works.push_back(g.all_reduce({nullptr, DType::u8, 2}, ReduceOp::sum, options));
    for (const Result<WorkPtr>& work : works) PDSIM_TRY(wait(work));
    if (env.rank == 0) took = env.runtime.now() - began;
    return Status{};
  });
  EXPECT_FALSE(r.deadlocked);
  return took;
}

TEST(Executors, SoManyCollectivesAsALibraryRunsAtOnceOverlapTheirLatencies) {
  for (const auto& [backend, at_once] : {std::pair("nccl", 1), std::pair("mpi", 1), std::pair("gloo", 2)})
    for (const int calls : {1, 2, 3, 4, 7}) {
      const std::int64_t one = all_reduces(backend, 1).ps, turns = (calls + at_once - 1) / at_once;
      const double ratio = static_cast<double>(all_reduces(backend, calls).ps) / static_cast<double>(one);
      EXPECT_NEAR(ratio, static_cast<double>(turns), 0.01) << backend << " " << calls;
    }
}

TEST(Executors, TheIdealBackendHasNoEndOfThem) {
  const double one = static_cast<double>(all_reduces("ideal", 1).ps);
  EXPECT_NEAR(static_cast<double>(all_reduces("ideal", 32).ps) / one, 1, 0.05);
}

TEST(Executors, SendsAndReceivesTakeNone) {
  for (const std::string backend : {"nccl", "mpi", "gloo"}) {
    const RunRecord r = with_group(world(2, backend), [](RankEnvironment& env, ProcessGroup& g) -> Status {
      const MutableView view{nullptr, DType::f32, 1};
      // The collective waits for rank 1, and rank 1 waits for the message that rank 0 sends after it.
      if (env.rank == 1) {
        PDSIM_TRY(wait(g.recv(view, 0, 0)));
        return wait(g.all_reduce(view, ReduceOp::sum));
      }
      const auto first = g.all_reduce(view, ReduceOp::sum);
      PDSIM_TRY(wait(g.send(view, 1, 0)));
      return wait(first);
    });
    EXPECT_FALSE(r.deadlocked) << backend;
  }
}

TEST(Executors, CallsBehindOneThatFailedEndWithIt) {
  const RunRecord r = with_rank_1_away([](RankEnvironment& env, ProcessGroup& g) -> Status {
    CallOptions options;
    options.timeout = 1_s;
    std::vector<Result<WorkPtr>> works;
    for (int i = 0; i < 4; ++i) works.push_back(g.all_reduce({nullptr, DType::f32, 1}, ReduceOp::sum, options));
    for (const Result<WorkPtr>& work : works) EXPECT_FALSE(wait(work));
    EXPECT_LT(env.runtime.now(), 2_s);
    return Status{};
  });
  EXPECT_EQ(r.ranks[0].log.end, RankEnd::returned);
}

}  // namespace
}  // namespace pdsim::sim
