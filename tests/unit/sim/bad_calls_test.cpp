// Calls that cannot be made: refused with the facts on the rank that made them, and the group goes on.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

struct BadCall {
  const char* name;
  std::function<Status(ProcessGroup&)> make;
  const char* says;
};

Status negative_count(ProcessGroup& group) {
  Floats x(1);
  MutableView v = view(x);
  v.count = -3;
  return wait(group.all_reduce(v, ReduceOp::sum));
}
Status one_null_buffer(ProcessGroup& group) {
  Floats x(1);
  return wait(group.scan(view(x), {nullptr, DType::f32, 1}, ReduceOp::sum));
}
Status shifted_in_place(ProcessGroup& group) {
  Floats x(4);
  const MutableView all = view(x);
  const MutableView shifted{all.data + sizeof(float), DType::f32, 2};
  return wait(group.scan(view(x, 2), shifted, ReduceOp::sum));
}
Status root_out_of_range(ProcessGroup& group) {
  Floats x(1);
  return wait(group.broadcast(view(x), 3));
}
Status peer_out_of_range(ProcessGroup& group) {
  Floats x(1);
  return wait(group.send(view(x), -2, 0));
}
Status to_itself(ProcessGroup& group) {
  Floats x(1);
  return wait(group.send(view(x), group.rank(), 0));
}
Status bits_of_floats(ProcessGroup& group) {
  Floats x(1);
  return wait(group.all_reduce(view(x), ReduceOp::bxor));
}
Status average_on_gloo(ProcessGroup& group) {
  Floats x(1);
  return wait(group.all_reduce(view(x), ReduceOp::avg));
}
Status average_of_a_prefix(ProcessGroup& group) {
  Floats x(1);
  return wait(group.scan(view(x), view(x), ReduceOp::avg));
}
Status short_output(ProcessGroup& group) {
  Floats x(2), out(3);
  return wait(group.all_gather(view(x), view(out)));
}
Status other_dtype(ProcessGroup& group) {
  Floats x(2), out(2);
  MutableView v = view(out);
  v.dtype = DType::i32;
  return wait(group.scan(view(x), v, ReduceOp::sum));
}
Status too_few_counts(ProcessGroup& group) {
  Floats x(2), out(2);
  return wait(group.all_gather_v(view(x), view(out), std::vector<std::int64_t>{2}));
}
Status negative_part(ProcessGroup& group) {
  Floats x(2), out(2);
  return wait(group.all_gather_v(view(x), view(out), std::vector<std::int64_t>{2, -1, 1}));
}
Status part_of_another_size(ProcessGroup& group) {
  Floats x(2), out(9);
  return wait(group.reduce_scatter_v(view(out), view(x), std::vector<std::int64_t>{3, 3, 3}, ReduceOp::sum));
}

const std::vector<BadCall> bad_calls{
    {"negative count", negative_count, "all_reduce: count is -3, and must be 0 or more"},
    {"one null buffer", one_null_buffer, "scan: one of input and output is null"},
    {"overlap", shifted_in_place, "scan: input and output overlap; pass the same buffer for both, or separate ones"},
    {"root", root_out_of_range, "broadcast: src 3 is not a rank of the group, which has ranks 0..2"},
    {"peer", peer_out_of_range, "send: dst -2 is not a rank of the group, which has ranks 0..2"},
    {"self", to_itself, "send: rank 1 names itself as dst"},
    {"bits of floats", bits_of_floats, "all_reduce: bxor does not exist for f32"},
    {"avg on gloo", average_on_gloo,
     "all_reduce: gloo of pytorch-2.6 does not offer avg for f32; the ideal backend does"},
    {"avg of a prefix", average_of_a_prefix,
     "scan: gloo of pytorch-2.6 does not offer avg for f32; the ideal backend does"},
    {"short output", short_output, "all_gather: output has 3 elements, and must have 6"},
    {"other dtype", other_dtype, "scan: input and output must have the same dtype"},
    {"too few counts", too_few_counts, "all_gather_v: 1 counts were given, and the group has 3 ranks"},
    {"negative part", negative_part, "all_gather_v: the count of rank 1 is -1, and must be 0 or more"},
    {"part of another size", part_of_another_size,
     "reduce_scatter_v: output has 2 elements, and counts say 3 for rank 1"},
};

TEST(BadCall, IsRefusedWithItsFactsOnItsRankAndTheGroupGoesOn) {
  for (const BadCall& bad : bad_calls) {
    const RunRecord record = with_group(world(3), [&](RankEnvironment& env, ProcessGroup& group) -> Status {
      if (env.rank == 1) {
        const Status status = bad.make(group);
        EXPECT_EQ(status.ok() ? "ok" : status.error().message, bad.says) << bad.name;
      }
      return sum_ones(group, 7);
    });
    for (const RankResult& r : record.ranks)
      EXPECT_EQ(r.log.end, RankEnd::returned) << bad.name << ": " << r.log.error.message;
  }
}

TEST(BadCall, AfterDestroySaysWhichGroupIsGone) {
  const RunRecord record = with_group(world(2), [](RankEnvironment& env, ProcessGroup& group) -> Status {
    group.destroy();
    group.destroy();
    Floats x(1);
    EXPECT_EQ(wait(group.all_reduce(view(x), ReduceOp::sum)).error().code, Code::group_destroyed);
    EXPECT_EQ(wait(group.barrier()).error().message, "barrier: the process group world was destroyed");
    EXPECT_EQ(group.monitored_barrier(env.runtime, Time{1}).error().code, Code::group_destroyed);
    const std::vector<ProcessGroup::Message> one{{true, view(x), 0, 0}};
    EXPECT_EQ(group.batch(one).error().code, Code::group_destroyed);
    return {};
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

TEST(Work, WaitedForTwiceGivesTheSameOutcome) {
  const RunRecord record = with_group(world(2), [](RankEnvironment&, ProcessGroup& group) -> Status {
    Floats x(1, 1.0F);
    const auto work = group.all_reduce(view(x), ReduceOp::sum);
    PDSIM_TRY(wait(work));
    PDSIM_TRY(wait(work));
    EXPECT_EQ(x[0], 2.0F);
    EXPECT_TRUE((*work)->done());
    EXPECT_FALSE((*work)->exception().has_value());
    EXPECT_EQ((*work)->source(), no_rank);
    return {};
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

TEST(Work, WaitWithALimitReturnsTimeoutAndLeavesTheOperationRunning) {
  const RunRecord record = with_group(world(2), [](RankEnvironment& env, ProcessGroup& group) -> Status {
    if (env.rank == 1) env.runtime.sleep_until(env.runtime.now() + Time{2'000'000'000'000});
    Floats x(1, 1.0F);
    const auto work = group.all_reduce(view(x), ReduceOp::sum);
    PDSIM_TRY(work.status());
    if (env.rank == 0) {
      const Status early = (*work)->wait(env.runtime.now() + Time{1'000'000'000'000});
      EXPECT_EQ(early.error().code, Code::timeout);
      EXPECT_FALSE((*work)->exception().has_value());
    }
    PDSIM_TRY(wait(work));
    EXPECT_EQ(x[0], 2.0F);
    return {};
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

TEST(Work, KeepsTheErrorOfAFailedOperation) {
  const RunRecord record = with_group(world(2), [](RankEnvironment& env, ProcessGroup& group) -> Status {
    if (env.rank == 1) return {};
    Floats x(1);
    const auto work = group.recv(view(x), 1, 0);
    const Status status = wait(work);
    EXPECT_EQ(status.error().code, Code::peer_closed);
    EXPECT_EQ((*work)->exception().value(), status.error());
    EXPECT_EQ((*work)->wait().error(), status.error());
    EXPECT_EQ((*work)->source(), no_rank);
    return {};
  });
  EXPECT_EQ(record.ranks[0].log.end, RankEnd::returned) << record.ranks[0].log.error.message;
}

}  // namespace
}  // namespace pdsim::sim
