#include "core/group/checked_communicator.h"

#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

RunRecord in_checked_group(int ranks, const std::string& backend, const GroupBody& body, Time timeout = Time::max()) {
  return run(world(ranks, backend), {},
             [&](RankEnvironment& env) -> ProgramResult {
               auto store = env.rendezvous.env(30_min);
               if (!store.ok()) return {store.error(), {}};
               JoinOptions join{"world", env.rank, env.world_size, env.backend.default_timeout(), {}};
               auto communicator = env.backend.join(**store, join);
               if (!communicator.ok()) return {communicator.error(), {}};
               const RankList all = RankList::of_world(env.world_size);
               auto checked =
                   std::make_unique<CheckedCommunicator>(std::move(*communicator), env.runtime, "world", all, env.rank);
               ProcessGroup group("world", all, env.rank, timeout, std::move(checked), env.recorder);
               return {body(env, group), {}};
             })
      .value();
}

constexpr const char* all_backends[] = {"gloo", "nccl", "mpi", "ideal"};

struct MismatchedCall {
  Status (*make)(ProcessGroup&, bool odd);
  const char* verdict;
  const char* says;
};

const MismatchedCall mismatches[] = {
    {[](ProcessGroup& g, bool odd) {
       Floats x(4);
       return odd ? wait(g.broadcast(view(x), 0)) : wait(g.all_reduce(view(x), ReduceOp::sum));
     },
     "op-mismatch", "all_reduce #1 of 4 f32, sum on ranks 0, 2 against broadcast #1 of 4 f32, src 0 on rank 1"},
    {[](ProcessGroup& g, bool odd) {
       Floats x(odd ? 6 : 4);
       return wait(g.all_reduce(view(x), ReduceOp::sum));
     },
     "parameter-mismatch", "all_reduce #1 of 4 f32, sum on ranks 0, 2 against all_reduce #1 of 6 f32, sum on rank 1"},
    {[](ProcessGroup& g, bool odd) {
       Floats x(4);
       return wait(g.all_reduce(view(x), odd ? ReduceOp::max : ReduceOp::sum));
     },
     "parameter-mismatch", "all_reduce #1 of 4 f32, sum on ranks 0, 2 against all_reduce #1 of 4 f32, max on rank 1"},
    {[](ProcessGroup& g, bool odd) {
       Floats x(4);
       MutableView v = view(x);
       if (odd) v.dtype = DType::i32;
       return wait(g.all_reduce(v, ReduceOp::sum));
     },
     "parameter-mismatch", "all_reduce #1 of 4 f32, sum on ranks 0, 2 against all_reduce #1 of 4 i32, sum on rank 1"},
    {[](ProcessGroup& g, bool odd) {
       Floats x(4);
       return wait(g.broadcast(view(x), odd ? 1 : 0));
     },
     "root-mismatch", "broadcast #1 of 4 f32, src 0 on ranks 0, 2 against broadcast #1 of 4 f32, src 1 on rank 1"},
    {[](ProcessGroup& g, bool odd) {
       Floats x(4);
       return odd ? wait(g.barrier()) : wait(g.all_reduce(view(x), ReduceOp::sum));
     },
     "op-mismatch", "all_reduce #1 of 4 f32, sum on ranks 0, 2 against barrier #1 on rank 1"},
};

TEST(CheckedGroup, ReportsWhoCallsWhatOnEveryRankAndGoesOn) {
  for (const char* backend : all_backends)
    for (const MismatchedCall& m : mismatches) {
      const RunRecord record = in_checked_group(3, backend, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
        const Status status = m.make(group, env.rank == 1);
        EXPECT_EQ(status.ok() ? "ok" : status.error().message,
                  std::string("the ranks of world called different collectives: ") + m.says);
        EXPECT_EQ(status.error().code, Code::collective_mismatch);
        EXPECT_EQ(fact(status.error().facts, "verdict"), m.verdict);
        return sum_ones(group, 5);
      });
      for (const RankResult& r : record.ranks)
        EXPECT_EQ(r.log.end, RankEnd::returned) << backend << ": " << r.log.error.message;
    }
}

TEST(CheckedGroup, LetsEqualCallsPass) {
  for (const char* backend : all_backends) {
    const RunRecord record = in_checked_group(4, backend, [](RankEnvironment& env, ProcessGroup& group) -> Status {
      for (const std::int64_t n : {0, 1, 9}) PDSIM_TRY(sum_ones(group, n));
      Floats in(static_cast<std::size_t>(env.rank), 1.0F), out(6);
      PDSIM_TRY(wait(group.all_gather_v(view(in), view(out), std::vector<std::int64_t>{0, 1, 2, 3})));
      return wait(group.barrier());
    });
    for (const RankResult& r : record.ranks)
      EXPECT_EQ(r.log.end, RankEnd::returned) << backend << ": " << r.log.error.message;
  }
}

TEST(CheckedGroup, NamesTheRanksThatDoNotCome) {
  const RunRecord record = in_checked_group(
      3, "ideal",
      [](RankEnvironment& env, ProcessGroup& group) -> Status {
        if (env.rank != 2) return wait(group.barrier());
        env.runtime.sleep_until(env.runtime.now() + Time{60'000'000'000'000});
        return {};
      },
      Time{1'000'000'000'000});
  for (const Rank r : {0, 1}) {
    const Error& error = record.ranks[static_cast<std::size_t>(r)].log.error;
    EXPECT_EQ(error.message, "barrier #1 of world: rank 2 did not call anything within 1s");
    EXPECT_EQ(fact(error.facts, "verdict"), "missing-enter");
  }
}

}  // namespace
}  // namespace pdsim::sim
