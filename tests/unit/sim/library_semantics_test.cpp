// What each library shows of a hang, of a dead peer and of a mismatch, and when.
#include "core/semantics/profile.h"
#include "sim/world/printed_error.h"
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

RunRecord hang(const std::string& backend, const std::string& profile = "pytorch-2.6",
               std::optional<Time> timeout = {}) {
  WorldSpec spec = world(2, backend);
  spec.profile = profile;
  return with_group(spec, [timeout](RankEnvironment& env, ProcessGroup& g) -> Status {
    PDSIM_TRY(sum_ones(g, 1));
    if (env.rank == 1) return wait(g.recv({nullptr, DType::f32, 1}, 0, 9));
    CallOptions options;
    if (timeout) options.timeout = *timeout;
    return wait(g.all_reduce({nullptr, DType::f32, 1}, ReduceOp::sum, options));
  });
}

TEST(LibrarySemantics, TellsWhatItsWatchdogWouldHaveSaidAboutADeadlock) {
  EXPECT_EQ(hang("gloo").watchdog[0], "gloo: Timed out waiting 1800000ms for recv operation to complete, after 30min");
  EXPECT_EQ(
      hang("nccl").watchdog[0],
      "nccl: Watchdog caught collective operation timeout: all_reduce #2 ran for 600000 milliseconds; the process "
      "ends, after 10min");
  EXPECT_EQ(hang("mpi").watchdog[0], "mpi: nothing, ever: Open MPI has no timeout");
  EXPECT_EQ(hang("ideal").watchdog[0], "ideal: nothing, ever: the ideal backend has no timeout");
}

TEST(LibrarySemantics, SaysOnWhichDevicesItsTensorsAre) {
  const auto tensors = [](std::string_view name) { return to_string(library_named(name)->tensors); };
  EXPECT_EQ(tensors("gloo"), "cpu, cuda");
  EXPECT_EQ(tensors("nccl"), "cuda");
  EXPECT_EQ(tensors("mpi"), "cpu");
  EXPECT_EQ(to_string(DeviceTypes{}), "");
}

TEST(LibrarySemantics, NcclWaitedThirtyMinutesInTheTimeOf113) {
  EXPECT_NE(hang("nccl", "pytorch-1.13").watchdog[0].find("1800000 milliseconds"), std::string::npos);
  EXPECT_EQ(default_timeout(*library_named("nccl"), *profile_named("pytorch-1.13")), 30_min);
  EXPECT_EQ(default_timeout(*library_named("nccl"), *profile_named("pytorch-2.6")), 10_min);
  for (const Profile& profile : profiles()) EXPECT_EQ(default_timeout(*library_named("gloo"), profile), 30_min);
}

TEST(LibrarySemantics, ACallsOwnTimeoutHolds) {
  EXPECT_EQ(hang("gloo", "pytorch-2.6", 2_s).watchdog[0],
            "gloo: Timed out waiting 2000ms for recv operation to complete, after 2s");
}

TEST(LibrarySemantics, ADeadlockIsTheSameInstantWhateverTheWatchdog) {
  const Time at = hang("gloo").deadlock_at;
  EXPECT_EQ(hang("gloo", "pytorch-2.6", 2_s).deadlock_at, at);
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"}) {
    const RunRecord r = hang(backend);
    EXPECT_TRUE(r.deadlocked) << backend;
    EXPECT_LT(r.deadlock_at, 1_ms) << backend;
    EXPECT_EQ(r.elapsed, r.deadlock_at) << backend;
  }
}

// Different collectives at one number.
RunRecord mismatch(const std::string& backend) {
  return with_group(world(2, backend), [](RankEnvironment& env, ProcessGroup& g) -> Status {
    std::array<float, 2> data{1, 1};
    const MutableView view{reinterpret_cast<std::byte*>(data.data()), DType::f32, 2};
    return env.rank == 0 ? wait(g.all_reduce(view, ReduceOp::sum)) : wait(g.broadcast(view, 0));
  });
}

TEST(LibrarySemantics, CallsPairByKindOnGlooAndByOrderAloneOnNccl) {
  EXPECT_TRUE(mismatch("gloo").deadlocked);
  EXPECT_TRUE(mismatch("ideal").deadlocked);
  // On nccl the broadcast of rank 1 takes what rank 0 sends for its all-reduce; who still waits is rank 0.
  const RunRecord r = mismatch("nccl");
  EXPECT_EQ(r.ranks[1].log.end, RankEnd::returned);
  EXPECT_EQ(r.ranks[0].log.end, RankEnd::running);
}

TEST(LibrarySemantics, TheEndOfAPeerIsPrintedInGloosWordsAndOnlyForGloo) {
  const Error error{Code::peer_closed, "Connection closed by peer: rank 1 has ended", {{"peer", "1"}}};
  EXPECT_EQ(printed_error(*library_named("gloo"), error), "Connection closed by peer [address of rank 1]:port");
  for (const char* other : {"mpi", "nccl", "ideal"}) EXPECT_EQ(printed_error(*library_named(other), error), error.message);
}

RunRecord longer_than_its_receive(const std::string& backend) {
  return with_group(world(2, backend), [](RankEnvironment& env, ProcessGroup& g) -> Status {
    std::vector<float> data(64, 1.0F);
    const std::int64_t count = env.rank == 0 ? 64 : 8;
    const MutableView view{reinterpret_cast<std::byte*>(data.data()), DType::f32, count};
    return env.rank == 0 ? wait(g.send(view, 1, 0)) : wait(g.recv(view, 0, 0));
  });
}

TEST(LibrarySemantics, AMessageThatIsTooLongEndsTheReceiverAsItsLibraryDoes) {
  const RunRecord gloo = longer_than_its_receive("gloo");
  EXPECT_EQ(gloo.ranks[1].log.end, RankEnd::died);
  EXPECT_EQ(gloo.ranks[1].log.error.code, Code::process_aborted);
  EXPECT_EQ(gloo.watchdog[1], "gloo: op.preamble.length <= op.nbytes. 256 vs 32");
  EXPECT_EQ(gloo.ranks[0].log.end, RankEnd::returned) << "its bytes have left: " << gloo.ranks[0].log.error.message;
  for (const char* backend : {"mpi", "ideal"}) {
    const RunRecord r = longer_than_its_receive(backend);
    EXPECT_EQ(r.ranks[1].log.end, RankEnd::raised) << backend;
    EXPECT_EQ(r.ranks[1].log.error.code, Code::size_mismatch) << backend;
  }
  EXPECT_EQ(longer_than_its_receive("nccl").ranks[1].log.end, RankEnd::running);
}

TEST(LibrarySemantics, OnlyGlooRefusesAGroupAfterATimeout) {
  const RunRecord r = with_rank_1_away([](RankEnvironment&, ProcessGroup& g) -> Status {
    CallOptions options;
    options.timeout = 1_s;
    const Status first = wait(g.barrier(options));
    EXPECT_EQ(first.error().code, Code::timeout);
    return wait(g.barrier());
  });
  EXPECT_EQ(r.ranks[0].log.error.code, Code::group_unusable);
}

TEST(LibrarySemantics, SmallSendsAreEagerOnMpiAndNotOnGloo) {
  for (const auto& [backend, count, deadlocks] :
       {std::tuple("mpi", 16, false), std::tuple("mpi", 64 * 1024, true), std::tuple("gloo", 16, true),
        std::tuple("ideal", 64 * 1024, false)}) {
    const RunRecord r = with_group(world(2, backend), [n = count](RankEnvironment& env, ProcessGroup& g) -> Status {
      PDSIM_TRY(wait(g.send({nullptr, DType::f32, n}, 1 - env.rank, 0)));
      return wait(g.recv({nullptr, DType::f32, n}, 1 - env.rank, 0));
    });
    EXPECT_EQ(r.deadlocked, deadlocks) << backend << " " << count;
  }
}

TEST(LibrarySemantics, EveryNameOfTheTablesIsFoundAndOthersAreNot) {
  for (const LibrarySemantics& p : library_semantics()) EXPECT_EQ(library_named(p.name), &p);
  for (const Profile& p : profiles()) EXPECT_EQ(profile_named(p.name), &p);
  EXPECT_EQ(library_named("ucc"), nullptr);
  EXPECT_EQ(profile_named("pytorch-3"), nullptr);
}

}  // namespace
}  // namespace pdsim::sim
