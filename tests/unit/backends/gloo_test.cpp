// Gloo between threads of one process: every rank has its own runtime, device and store handle.

#include "backends/availability.h"
#include "backends/gloo/gloo_backend.h"
#include "backends/os/real_runtime.h"
#include "core/collectives/algorithms.h"
#include "tests/unit/backends/ranks_in_threads.h"
#include "tests/unit/backends/shared_map_store.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <latch>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;
using testing::expect_reference;
using testing::RankUnderTest;
using testing::run;
using testing::SharedMap;
using testing::SharedMapStore;

void with_ranks(int size, Time timeout, const std::function<void(RankUnderTest&)>& body) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  testing::with_ranks(
      size, timeout, [](Runtime& runtime) { return make_gloo_backend(runtime); }, body);
}

constexpr CollectiveKind kinds[] = {
    CollectiveKind::broadcast,      CollectiveKind::all_reduce, CollectiveKind::reduce,
    CollectiveKind::all_gather,     CollectiveKind::gather,     CollectiveKind::scatter,
    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all, CollectiveKind::barrier};

TEST(Gloo, NativeCollectivesEqualTheReference) {
  for (int size = 1; size <= 3; ++size)
    with_ranks(size, 20_s, [size](RankUnderTest& me) {
      Seq seq = 0;
      for (const CollectiveKind kind : kinds)
        for (const std::int64_t count : {0, 1, 7})
          for (const DType dtype : {DType::f32, DType::u8}) {
            Collective call{kind, {}, {}, dtype, count};
            call.root = size - 1;
            call.seq = seq++;
            expect_reference(me, size, call);
          }
    });
}

TEST(Gloo, EveryPlanEqualsTheReference) {
  for (int size = 2; size <= 4; ++size)
    with_ranks(size, 20_s, [size](RankUnderTest& me) {
      Seq seq = 0;
      for (const Algorithm& algorithm : algorithms()) {
        if (row(algorithm.kind).point_to_point) continue;
        for (const std::int64_t count : {1, 6}) {
          Collective call{algorithm.kind, {}, {}, DType::i64, count};
          call.algorithm = algorithm.name;
          call.root = 1;
          call.seq = seq++;
          expect_reference(me, size, call);
        }
      }
    });
}

TEST(Gloo, ReducesWithEveryOperation) {
  with_ranks(2, 20_s, [](RankUnderTest& me) {
    Seq seq = 0;
    for (const ReduceOp op :
         {ReduceOp::sum, ReduceOp::avg, ReduceOp::product, ReduceOp::min, ReduceOp::max, ReduceOp::premul_sum}) {
      Collective call{CollectiveKind::all_reduce, {}, {}, DType::f64, 5};
      call.op = op;
      call.premul = 0.5;
      call.seq = seq++;
      expect_reference(me, 2, call);
    }
  });
}

TEST(Gloo, SendsMatchReceivesByTagAndFromAnySource) {
  with_ranks(3, 20_s, [](RankUnderTest& me) {
    float value = static_cast<float>(me.rank);
    Collective call{CollectiveKind::send, {reinterpret_cast<std::byte*>(&value), DType::f32, 1}, {}, DType::f32, 1};
    call.timeout = 20_s;
    call.user_tag = 5;
    if (me.rank != 0) {
      EXPECT_TRUE(run(*me.communicator, call).ok());
      return;
    }
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
      call = {CollectiveKind::recv, {}, {reinterpret_cast<std::byte*>(&value), DType::f32, 1}, DType::f32, 1};
      call.timeout = 20_s;
      call.user_tag = 5;
      call.root = any_source;
      const Status status = run(*me.communicator, call);
      EXPECT_TRUE(status.ok()) << status.error().message;
      sum += value;
    }
    EXPECT_EQ(sum, 3.0F);
  });
}

// Each message has a thread of its own, which may end at any moment while another message is started.
TEST(Gloo, BurstsOfMessagesFollowEachOther) {
  with_ranks(2, 20_s, [](RankUnderTest& me) {
    std::array<std::int64_t, 16> values{};
    for (std::int64_t burst = 0; burst < 300; ++burst) {
      std::vector<WorkPtr> works;
      for (std::int64_t& value : values) {
        value = me.rank == 0 ? burst : -1;
        Collective call{me.rank == 0 ? CollectiveKind::send : CollectiveKind::recv, {}, {}, DType::i64, 1};
        call.timeout = 20_s;
        call.root = 1 - me.rank;
        if (me.rank == 0) {
          call.input = view_of(value);
        } else {
          call.output = view_of(value);
        }
        Result<WorkPtr> work = me.communicator->start(call);
        ASSERT_TRUE(work.ok());
        works.push_back(*work);
      }
      for (const WorkPtr& work : works) ASSERT_TRUE(work->wait().ok());
      for (const std::int64_t value : values) ASSERT_EQ(value, burst);
    }
  });
}

TEST(Gloo, ARankThatStaysAwayIsATimeoutAndTheGroupIsUnusableAfterwards) {
  for (const std::string_view algorithm : {"native", "dissemination"}) {
    std::latch over(1);
    with_ranks(2, 20_s, [&](RankUnderTest& me) {
      if (me.rank == 1) return over.wait();
      Collective call{};
      call.algorithm = algorithm;
      call.timeout = 50_ms;
      const Status first = run(*me.communicator, call);
      const Status second = run(*me.communicator, call);
      over.count_down();
      ASSERT_FALSE(first.ok());
      EXPECT_EQ(first.error().code, Code::timeout) << first.error().message;
      ASSERT_FALSE(second.ok());
      EXPECT_EQ(second.error().code, Code::group_unusable) << second.error().message;
    });
  }
}

TEST(Gloo, ARankThatEndedIsPeerClosed) {
  for (const std::string_view algorithm : {"native", "dissemination"})
    with_ranks(2, 20_s, [&](RankUnderTest& me) {
      if (me.rank == 1) return;
      Collective call{};
      call.algorithm = algorithm;
      call.timeout = 20_s;
      const Status status = run(*me.communicator, call);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::peer_closed) << status.error().message;
    });
}

TEST(Gloo, NativeReduceScatterIsRefusedByName) {
  with_ranks(1, 20_s, [](RankUnderTest& me) {
    Collective call{CollectiveKind::reduce_scatter, {}, {}, DType::f32, 1};
    call.algorithm = "native";
    const Result<WorkPtr> work = me.communicator->start(call);
    ASSERT_FALSE(work.ok());
    EXPECT_EQ(work.error().code, Code::unsupported);
  });
}

TEST(Gloo, AbortEndsACollectiveWhereverItIs) {
  // The abort may come before the collective has posted its first message, or after: both must end at once.
  constexpr std::string_view algorithms_in_turn[] = {"native", "ring", "native", "ring", "native", "ring"};
  for (const std::string_view algorithm : algorithms_in_turn) {
    std::latch over(1);
    with_ranks(2, 20_s, [&](RankUnderTest& me) {
      std::vector<float> data(4, 1.0F);
      Collective call{CollectiveKind::all_reduce,
                      {reinterpret_cast<std::byte*>(data.data()), DType::f32, 4},
                      {reinterpret_cast<std::byte*>(data.data()), DType::f32, 4},
                      DType::f32,
                      4};
      call.algorithm = algorithm;
      call.timeout = 30_min;
      if (me.rank == 1) return over.wait();
      const Result<WorkPtr> work = me.communicator->start(call);
      ASSERT_TRUE(work.ok());
      me.communicator->abort({Code::cancelled, "the test gave up", {}});
      const Status status = (*work)->wait();
      EXPECT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::cancelled) << status.error().message;
      EXPECT_EQ(me.communicator->start(call).error().code, Code::group_unusable);
      over.count_down();
    });
  }
}

TEST(Gloo, ARankThatNeverComesIsAStoreTimeout) {
  if (!gloo_availability().yes) GTEST_SKIP();
  SharedMap map;
  RealRuntime runtime;
  auto backend = make_gloo_backend(runtime);
  ASSERT_TRUE(backend.ok());
  SharedMapStore store(map);
  const auto communicator = (*backend)->join(store, {"world", 0, 2, 50_ms});
  ASSERT_FALSE(communicator.ok());
  EXPECT_EQ(communicator.error().code, Code::store_timeout) << communicator.error().message;
}

TEST(Gloo, UnknownInterfaceIsUnavailable) {
  if (!gloo_availability().yes) GTEST_SKIP();
  RealRuntime runtime;
  const auto backend = make_gloo_backend(runtime, {"no-such-interface"});
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.error().code, Code::unavailable) << backend.error().message;
  EXPECT_EQ(backend.error().message.find("this machine has no network interface `no-such-interface`"), 0U)
      << backend.error().message;
  EXPECT_FALSE(make_gloo_backend(runtime, {"lo,no-such-interface"}).ok());
  EXPECT_FALSE(make_gloo_backend(runtime, {","}).ok());
  EXPECT_TRUE(make_gloo_backend(runtime, {"lo,lo"}).ok());
}

}  // namespace
}  // namespace pdsim
