// Streams: what runs ahead of the program, what waits for what, and what the program waits for.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pdsim::sim {
namespace {

WorldSpec with_streams(int ranks, std::string backend = "nccl") {
  WorldSpec spec = world(ranks, std::move(backend));
  spec.streams = true;
  return spec;
}

Result<WorkPtr> start_sum(ProcessGroup& group, std::vector<float>& x) {
  return group.all_reduce({reinterpret_cast<std::byte*>(x.data()), DType::f32, static_cast<std::int64_t>(x.size())},
                          ReduceOp::sum);
}

TEST(Device, IsThereWhereTheWorldHasStreams) {
  with_group(world(2, "nccl"), [](RankEnvironment& env, ProcessGroup&) {
    EXPECT_EQ(env.device, nullptr);
    EXPECT_FALSE(env.waits_on_stream);
    return Status{};
  });
  for (const char* backend : {"nccl", "gloo", "mpi"})
    with_group(with_streams(2, backend), [backend](RankEnvironment& env, ProcessGroup&) {
      EXPECT_NE(env.device, nullptr);
      EXPECT_EQ(env.waits_on_stream, std::string(backend) == "nccl");
      return Status{};
    });
}

TEST(Device, RunsKernelsOneAfterAnotherBehindTheProgram) {
  with_group(with_streams(1), [](RankEnvironment& env, ProcessGroup&) {
    const Time began = env.runtime.now();
    env.device->launch(2_ms);
    env.runtime.compute(1_ms);  // meanwhile
    env.device->launch(3_ms);
    EXPECT_EQ((env.runtime.now() - began).ps, (1_ms).ps);
    env.device->synchronize_stream();
    EXPECT_EQ((env.runtime.now() - began).ps, (5_ms).ps);
    env.device->synchronize();
    EXPECT_EQ((env.runtime.now() - began).ps, (5_ms).ps);
    env.runtime.compute(1_ms);  // the stream was idle for it
    env.device->launch(1_ms);
    env.device->synchronize();
    EXPECT_EQ((env.runtime.now() - began).ps, (7_ms).ps);
    return Status{};
  });
}

TEST(Device, IsAsSlowAsItsRank) {
  WorldSpec spec = with_streams(2);
  spec.speeds.push_back({IntSet::of({1}), 3.0, {}});
  with_group(spec, [](RankEnvironment& env, ProcessGroup&) {
    const Time began = env.runtime.now();
    env.device->launch(2_ms);
    env.device->synchronize();
    EXPECT_EQ((env.runtime.now() - began).ps, (env.rank == 1 ? 6_ms : 2_ms).ps);
    return Status{};
  });
}

TEST(Device, StartsACollectiveWhereTheStreamHasComeTo) {
  with_group(with_streams(2), [](RankEnvironment& env, ProcessGroup& group) {
    std::vector<float> x(4, 1.0F);
    if (env.rank == 1) env.device->launch(7_ms);
    const Time began = env.runtime.now();
    const Result<WorkPtr> work = start_sum(group, x);
    env.device->wait_for(*work);
    EXPECT_EQ(env.runtime.now().ps, began.ps);  // the program went on
    EXPECT_FALSE((*work)->done());
    env.device->launch(1_ms);  // behind the sum
    env.device->synchronize_stream();
    EXPECT_TRUE((*work)->done());
    EXPECT_GE((env.runtime.now() - began).ps, (8_ms).ps);
    EXPECT_EQ(x, std::vector<float>(4, 2.0F));
    return Status{};
  });
}

TEST(Device, RunsCollectivesOfAGroupOneAfterAnother) {
  with_group(with_streams(2), [](RankEnvironment& env, ProcessGroup& group) {
    std::vector<float> first(1, 1.0F), second(1, 1.0F);
    std::vector<int> order;
    const Result<WorkPtr> one = start_sum(group, first);
    const Result<WorkPtr> two = start_sum(group, second);
    (*one)->on_done([&order](const Status&) { order.push_back(1); });
    (*two)->on_done([&order](const Status&) { order.push_back(2); });
    EXPECT_TRUE((*two)->wait().ok());
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    env.device->synchronize();
    return Status{};
  });
}

TEST(Device, OfGlooWaitsForNoCollectiveAndNoCollectiveForIt) {
  with_group(with_streams(2, "gloo"), [](RankEnvironment& env, ProcessGroup& group) {
    const Time began = env.runtime.now();
    env.device->launch(5_ms);
    EXPECT_TRUE(sum_ones(group, 4).ok());
    EXPECT_LT((env.runtime.now() - began).ps, (1_ms).ps);
    env.device->synchronize();
    EXPECT_EQ((env.runtime.now() - began).ps, (5_ms).ps);
    return Status{};
  });
}

// A collective that a rank never calls: the program is stuck where it waits for its device, not where it made the call.
TEST(Device, SynchronizeNeverReturnsWhenAPeerDoesNotCall) {
  bool went_on = false, returned = false;
  const RunRecord run = with_group(with_streams(2), [&](RankEnvironment& env, ProcessGroup& group) {
    auto x = std::make_unique<std::vector<float>>(1, 1.0F);
    if (env.rank == 1) return Status{};
    env.device->wait_for(*start_sum(group, *x));
    went_on = true;
    env.device->synchronize();
    returned = true;
    return Status{};
  });
  EXPECT_TRUE(run.deadlocked);
  EXPECT_TRUE(went_on);
  EXPECT_FALSE(returned);
}

TEST(Device, OfADestroyedGroupDoesNotStartWhatWaitedInItsStream) {
  with_group(with_streams(2), [](RankEnvironment& env, ProcessGroup& group) {
    std::vector<float> x(1, 1.0F), y(1, 1.0F);
    env.device->launch(4_ms);
    const Result<WorkPtr> one = start_sum(group, x);
    const Result<WorkPtr> two = start_sum(group, y);
    group.destroy();
    EXPECT_EQ((*one)->wait().error().code, Code::cancelled);
    EXPECT_EQ((*two)->wait().error().code, Code::cancelled);
    env.device->synchronize();
    EXPECT_EQ(x.front(), 1.0F);
    EXPECT_EQ(y.front(), 1.0F);
    return Status{};
  });
}

TEST(Device, ABlockingWaitOfNcclsBlocksTheProgram) {
  WorldSpec spec = with_streams(2);
  spec.nccl.blocking_wait = true;
  with_group(spec, [](RankEnvironment& env, ProcessGroup&) {
    EXPECT_FALSE(env.waits_on_stream);
    return Status{};
  });
}

TEST(Device, GivesTheSameFingerprintEveryTime) {
  const auto run = [] {
    return with_group(with_streams(4), [](RankEnvironment& env, ProcessGroup& group) {
      std::vector<float> x(64, 1.0F);
      for (int i = 0; i < 3; ++i) {
        env.device->launch(Time{(env.rank + 1) * 1'000'000LL});
        env.device->wait_for(*start_sum(group, x));
      }
      env.device->synchronize();
      EXPECT_EQ(x.front(), 64.0F);
      return Status{};
    });
  };
  EXPECT_EQ(run().fingerprint, run().fingerprint);
}

}  // namespace
}  // namespace pdsim::sim
