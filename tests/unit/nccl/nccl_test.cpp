// The whole NCCL backend over the double: ranks are threads, and what would hang on a device hangs here.

#include "backends/nccl/nccl_backend.h"
#include "backends/os/real_runtime.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/reduce.h"
#include "core/group/checked_communicator.h"
#include "core/group/process_group.h"
#include "core/measure/trial.h"
#include "tests/helpers/planted_algorithms.h"
#include "tests/unit/backends/ranks_in_threads.h"
#include "tests/unit/backends/shared_map_store.h"
#include "tests/unit/nccl/fake_gpu.h"

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

void with_ranks(int size, const NcclLibrary& library, const std::function<void(RankUnderTest&)>& body) {
  testing::with_ranks(
      size, 20_s, [&](Runtime& runtime) { return make_nccl_backend(runtime, library); }, body);
  EXPECT_EQ(testing::fake_gpu_leftovers(), "");
}

void with_ranks(int size, const std::function<void(RankUnderTest&)>& body) {
  with_ranks(size, testing::fake_gpu(), body);
}

constexpr std::array collectives{
    CollectiveKind::broadcast,      CollectiveKind::all_reduce, CollectiveKind::reduce,
    CollectiveKind::all_gather,     CollectiveKind::gather,     CollectiveKind::scatter,
    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all, CollectiveKind::barrier,
};

void expect_all_collectives(RankUnderTest& me, int size) {
  Seq seq = 0;
  for (const CollectiveKind kind : collectives)
    for (const std::int64_t count : {0, 1, 7}) {
      Collective call{kind, {}, {}, DType::f32, count};
      call.root = size - 1;
      call.seq = seq++;
      expect_reference(me, size, call);
    }
}

TEST(Nccl, RefusesWrongAlgorithmsOfTheCallersOwn) {
  with_ranks(3, [](RankUnderTest& me) {
    FlightRecorder recorder(me.rank, me.runtime);
    ProcessGroup group("world", RankList::of_world(3), me.rank, 20_s, std::move(me.communicator), recorder);
    const Status tried = planted::try_own_algorithms(group);
    EXPECT_TRUE(tried.ok()) << tried.error().message;
  });
}

TEST(Nccl, CollectivesEqualTheReference) {
  for (int size = 1; size <= 4; ++size)
    with_ranks(size, [size](RankUnderTest& me) { expect_all_collectives(me, size); });
}

TEST(Nccl, CollectivesThatAnOlderLibraryLacksAreSentInGroups) {
  NcclLibrary library = testing::fake_gpu();
  library.nccl.all_to_all = nullptr;
  library.nccl.gather = library.nccl.scatter = nullptr;
  for (int size = 1; size <= 3; ++size)
    with_ranks(size, library, [size](RankUnderTest& me) { expect_all_collectives(me, size); });
}

void expect_every_reduction(RankUnderTest& me, int size, CollectiveKind kind, const char* algorithm, Seq& seq) {
  for (std::size_t op = 0; op < reduce_op_names.size(); ++op)
    for (const DTypeRow& row : dtypes) {
      if (!supports(static_cast<ReduceOp>(op), row.dtype)) continue;
      Collective call{kind, {}, {}, row.dtype, 5};
      call.op = static_cast<ReduceOp>(op);
      call.premul = 0.5;
      call.root = 1;
      call.seq = seq++;
      call.algorithm = algorithm;
      expect_reference(me, size, call);
    }
}

TEST(Nccl, ReducesEveryOperationOfEveryDType) {
  constexpr int size = 2;
  with_ranks(size, [](RankUnderTest& me) {
    Seq seq = 0;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce, CollectiveKind::reduce_scatter})
      expect_every_reduction(me, size, kind, "native", seq);
  });
}

TEST(Nccl, PlansReduceEveryOperationOfEveryDTypeOnTheDevice) {
  constexpr int size = 4;  // 1/4 is exact in every dtype
  with_ranks(size, [](RankUnderTest& me) {
    Seq seq = 0;
    expect_every_reduction(me, size, CollectiveKind::all_reduce, "ring", seq);
    expect_every_reduction(me, size, CollectiveKind::reduce, "linear", seq);
    expect_every_reduction(me, size, CollectiveKind::reduce_scatter, "pairwise", seq);
  });
}

// What `bench --raw` calls: with copies and without, and again on the same data.
TEST(Nccl, CalledDirectlyGivesTheReferencesResults) {
  constexpr int size = 3, forms = 2;
  testing::SharedMap map;
  with_ranks(size, [&map](RankUnderTest& me) {
    testing::SharedMapStore store(map);
    const auto raw = me.backend.join_raw(store, {"raw", me.rank, size, 20_s});
    ASSERT_TRUE(raw.ok()) << raw.error().message;
    for (const CollectiveKind kind : collectives)
      for (int form = 0; form < forms && kind != CollectiveKind::barrier; ++form)
        expect_reference(me.rank, size, {kind, {}, {}, DType::f32, 7}, [&](const Collective& call) -> Status {
          const Result<RawCaller::Run> prepared = (*raw)->prepare(call, form);
          if (!prepared.ok()) return prepared.error();
          PDSIM_TRY((*prepared)());
          return (*prepared)();
        });
    const Collective call{CollectiveKind::all_reduce, {}, {}, DType::f32, 1};
    EXPECT_FALSE((*raw)->prepare(call, forms).ok());
  });
}

// NCCL rounds 1/n to the dtype before it scales; three ranks, so that this differs from sum / n, and numbers whose sums round.
TEST(Nccl, ItsAverageOfHalfPrecisionIsWithinTheBoundsOfValidate) {
  constexpr int size = 3;
  with_ranks(size, [](RankUnderTest& me) {
    FlightRecorder recorder(me.rank, me.runtime);
    ProcessGroup group("world", RankList::of_world(size), me.rank, 20_s, std::move(me.communicator), recorder);
    for (const Values values : {Values::exact, Values::rounding})
      for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::i32}) {
        if (values == Values::rounding && !row(dtype).floating) continue;
        Payload payload;
        payload.kind = CollectiveKind::all_reduce;
        payload.dtype = dtype;
        payload.count = 1000;
        payload.op = ReduceOp::avg;
        payload.rank = me.rank;
        payload.size = size;
        payload.values = values;
        const TrialMemory memory(payload, false, true);
        const Status status = wait(start_trial(group, payload, memory, "native"));
        ASSERT_TRUE(status.ok()) << status.error().message;
        const MutableView out = memory.output();
        const Status right = payload.check({out.data, static_cast<std::size_t>(out.bytes())});
        EXPECT_TRUE(right.ok()) << right.error().message;
      }
  });
}

TEST(Nccl, EveryPlanEqualsTheReference) {
  for (int size = 2; size <= 4; ++size)
    with_ranks(size, [size](RankUnderTest& me) {
      Seq seq = 0;
      for (const Algorithm& algorithm : algorithms()) {
        if (row(algorithm.kind).point_to_point) continue;
        Collective call{algorithm.kind, {}, {}, DType::i64, 6};
        call.algorithm = algorithm.name;
        call.root = 1;
        call.seq = seq++;
        expect_reference(me, size, call);
      }
    });
}

// All are started before any has ended, and the ranks are in different rounds of them: NCCL matches messages by their order alone.
TEST(Nccl, PlansThatAreStartedTogetherDoNotMixTheirMessages) {
  constexpr int size = 4;
  with_ranks(size, [](RankUnderTest& me) {
    std::vector<std::string_view> names{"native"};
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.kind == CollectiveKind::all_reduce) names.push_back(algorithm.name);
    std::vector<std::array<float, 8>> data(names.size());
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < names.size(); ++i) {
      data[i].fill(static_cast<float>(i + 1));
      auto* bytes = reinterpret_cast<std::byte*>(data[i].data());
      Collective call{CollectiveKind::all_reduce, {bytes, DType::f32, 8}, {bytes, DType::f32, 8}, DType::f32, 8};
      call.algorithm = names[i];
      call.timeout = 5_s;
      call.seq = static_cast<Seq>(i);
      const Result<WorkPtr> work = me.communicator->start(call);
      ASSERT_TRUE(work.ok());
      works.push_back(*work);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_TRUE(works[i]->wait().ok()) << names[i];
      EXPECT_EQ(data[i][7], 4.0F * static_cast<float>(i + 1)) << names[i];
    }
  });
}

Collective message(CollectiveKind kind, Rank peer, std::int64_t& value) {
  Collective call{kind, {}, {}, DType::i64, 1};
  auto* data = reinterpret_cast<std::byte*>(&value);
  if (kind == CollectiveKind::send) call.input = {data, DType::i64, 1};
  if (kind == CollectiveKind::recv) call.output = {data, DType::i64, 1};
  call.root = peer;
  call.timeout = 20_s;
  return call;
}

// In one stream this would hang: each rank waits for its receive before it sends.
TEST(Nccl, MessagesOfTheTwoDirectionsDoNotHoldEachOtherUp) {
  with_ranks(2, [](RankUnderTest& me) {
    const Rank peer = 1 - me.rank;
    std::array<std::int64_t, 2> sent{me.rank * 10, me.rank * 10 + 1}, received{};
    std::vector<WorkPtr> works;
    for (const std::size_t i : {0U, 1U})
      for (const CollectiveKind kind : {CollectiveKind::recv, CollectiveKind::send}) {
        const bool receives = kind == CollectiveKind::recv;
        const Result<WorkPtr> work = me.communicator->start(message(kind, peer, receives ? received[i] : sent[i]));
        ASSERT_TRUE(work.ok());
        works.push_back(*work);
      }
    for (const WorkPtr& work : works) EXPECT_TRUE(work->wait().ok());
    EXPECT_EQ(received, (std::array<std::int64_t, 2>{peer * 10, peer * 10 + 1}));
  });
}

TEST(Nccl, RefusesWhatItsMessagesCannotDo) {
  with_ranks(1, [](RankUnderTest& me) {
    std::int64_t value = 0;
    EXPECT_EQ(me.communicator->check_supported(message(CollectiveKind::recv, any_source, value)).error().message,
              "recv: NCCL does not offer a receive from any source");
    EXPECT_EQ(me.communicator->check_supported(message(CollectiveKind::send, 0, value)).error().code, Code::unsupported);
    Collective scan{CollectiveKind::scan, {}, {}, DType::f32, 1};
    scan.algorithm = "native";
    EXPECT_EQ(me.communicator->start(scan).error().code, Code::unsupported);
  });
}

TEST(Nccl, CheckedGroupsCompareTheirCallsOverItsMessages) {
  with_ranks(3, [](RankUnderTest& me) {
    CheckedCommunicator checked(std::move(me.communicator), me.runtime, "world", RankList::of_world(3), me.rank);
    std::array<float, 8> data{};
    const std::int64_t count = me.rank == 2 ? 8 : 4;
    auto* bytes = reinterpret_cast<std::byte*>(data.data());
    Collective call{
        CollectiveKind::all_reduce, {bytes, DType::f32, count}, {bytes, DType::f32, count}, DType::f32, count};
    call.timeout = 20_s;
    const Status status = run(checked, call);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::collective_mismatch) << status.error().message;
  });
}

Collective small_sum(std::array<float, 4>& data) {
  auto* bytes = reinterpret_cast<std::byte*>(data.data());
  return {CollectiveKind::all_reduce, {bytes, DType::f32, 4}, {bytes, DType::f32, 4}, DType::f32, 4};
}

TEST(Nccl, ARankThatStaysAwayIsATimeoutAndTheGroupIsUnusableAfterwards) {
  for (const std::string_view algorithm : {"native", "ring"}) {
    std::latch over(1);
    with_ranks(2, [&](RankUnderTest& me) {
      if (me.rank == 1) return over.wait();
      std::array<float, 4> data{};
      Collective call = small_sum(data);
      call.algorithm = algorithm;
      call.timeout = 50_ms;
      const Status first = run(*me.communicator, call), second = run(*me.communicator, call);
      over.count_down();
      ASSERT_FALSE(first.ok());
      EXPECT_EQ(first.error().code, Code::timeout) << first.error().message;
      ASSERT_FALSE(second.ok());
      EXPECT_EQ(second.error().code, Code::group_unusable) << second.error().message;
    });
  }
}

TEST(Nccl, WhatRunsBesideALateOperationEndsWithItsReason) {
  std::latch over(1);
  with_ranks(2, [&](RankUnderTest& me) {
    if (me.rank == 1) return over.wait();
    std::array<float, 4> data{};
    Collective late = small_sum(data), other = small_sum(data);
    other.timeout = 30_min;
    late.timeout = 50_ms;
    late.algorithm = "ring";
    const Result<WorkPtr> beside = me.communicator->start(other);
    const Status first = run(*me.communicator, late), second = (*beside)->wait();
    over.count_down();
    EXPECT_EQ(first.error().code, Code::timeout);
    EXPECT_EQ(second.error().code, Code::group_unusable) << second.error().message;
  });
}

TEST(Nccl, AbortEndsWhatRuns) {
  for (const std::string_view algorithm : {"native", "ring"}) {
    std::latch over(1);
    with_ranks(2, [&](RankUnderTest& me) {
      if (me.rank == 1) return over.wait();
      std::array<float, 4> data{};
      Collective call = small_sum(data);
      call.algorithm = algorithm;
      const Result<WorkPtr> work = me.communicator->start(call);
      ASSERT_TRUE(work.ok());
      me.communicator->abort({Code::cancelled, "the test gave up", {}});
      EXPECT_EQ((*work)->wait().error().code, Code::cancelled);
      EXPECT_EQ(me.communicator->start(call).error().code, Code::group_unusable);
      over.count_down();
    });
  }
}

// A message that nobody receives: its communicator is never made, and its deadline ends the group.
TEST(Nccl, AMessageThatNobodyReceivesIsATimeout) {
  std::latch over(1);
  with_ranks(2, [&](RankUnderTest& me) {
    if (me.rank == 1) return over.wait();
    std::int64_t value = 1;
    Collective call = message(CollectiveKind::send, 1, value);
    call.timeout = 50_ms;
    const Status first = run(*me.communicator, call), second = run(*me.communicator, call);
    over.count_down();
    EXPECT_EQ(first.error().code, Code::timeout) << first.error().message;
    EXPECT_EQ(second.error().code, Code::group_unusable) << second.error().message;
  });
}

TEST(Nccl, AnErrorOfTheNetworkEndsWhatRunsAndNamesNccl) {
  std::latch started(1), over(1);
  with_ranks(2, [&](RankUnderTest& me) {
    if (me.rank == 1) {
      started.wait();
      testing::fake_gpu_fails_with(ncclRemoteError);
      return over.wait();
    }
    std::array<float, 4> data{};
    const Result<WorkPtr> work = me.communicator->start(small_sum(data));
    started.count_down();
    const Status status = (*work)->wait();
    over.count_down();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::peer_closed);
    EXPECT_EQ(
        status.error().message,
        "another rank ended, or the network to it failed (ncclCommGetAsyncError: remote process exited or there was "
        "a network error)");
  });
}

TEST(Nccl, ARankThatNeverComesIsAStoreTimeout) {
  testing::SharedMap map;
  testing::SharedMapStore store(map);
  RealRuntime runtime;
  auto backend = make_nccl_backend(runtime, testing::fake_gpu());
  ASSERT_TRUE(backend.ok()) << backend.error().message;
  const auto communicator = (*backend)->join(store, {"world", 0, 2, 50_ms});
  ASSERT_FALSE(communicator.ok());
  EXPECT_EQ(communicator.error().code, Code::store_timeout) << communicator.error().message;
}

TEST(Nccl, GroupsOfOneNameFollowEachOther) {
  testing::SharedMap map;
  for (int launch = 0; launch < 2; ++launch) {
    testing::SharedMapStore store(map);
    RealRuntime runtime;
    auto backend = make_nccl_backend(runtime, testing::fake_gpu());
    auto communicator = (*backend)->join(store, {"world", 0, 1, 20_s});
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    std::array<float, 4> data{1, 2, 3, 4};
    EXPECT_TRUE(run(**communicator, small_sum(data)).ok());
  }
}

TEST(Nccl, SaysFirstWhatIsMissing) {
  RealRuntime runtime;
  const auto reason = [&runtime](const testing::FakeGpuFacts& facts) {
    const auto backend = make_nccl_backend(runtime, testing::fake_gpu(facts));
    return backend.ok() ? "" : backend.error().message;
  };
  EXPECT_EQ(reason({0, 0}), "no CUDA driver (NCCL 2.28.9 found); install NVIDIA's driver for the GPU");
  EXPECT_EQ(
      reason({0, 12020}),
      "the CUDA driver supports CUDA 12.2 at most, but pdsim was built with 13.0 (NCCL 2.28.9 found); install a newer "
      "driver");
  EXPECT_EQ(reason({0, 13000}),
            "no CUDA device (NCCL 2.28.9 found, no CUDA-capable device is detected); is there a GPU, and does "
            "CUDA_VISIBLE_DEVICES include it?");
  EXPECT_EQ(reason({1, 13000}), "");
}

TEST(Nccl, SaysThatAnInterfaceIsMissing) {
  RealRuntime runtime;
  setenv("NCCL_SOCKET_IFNAME", "no-such,=no-other0", 1);
  const auto backend = make_nccl_backend(runtime, testing::fake_gpu());
  setenv("NCCL_SOCKET_IFNAME", "l", 1);
  EXPECT_TRUE(make_nccl_backend(runtime, testing::fake_gpu()).ok());
  unsetenv("NCCL_SOCKET_IFNAME");
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.error().code, Code::unavailable);
  EXPECT_EQ(backend.error().message.find(
                "this machine has no network interface `no-such,=no-other0`, which NCCL_SOCKET_IFNAME names; its "
                "interfaces with an address are "),
            0U)
      << backend.error().message;
}

}  // namespace
}  // namespace pdsim
