// RPC over Gloo between threads of one process: the recorded programs give what they give in PyTorch (tests/unit/rpc/oracle_test.cpp
// compares the simulated world with the recordings).

#include "backends/availability.h"
#include "backends/gloo/gloo_backend.h"
#include "backends/os/files_below.h"
#include "backends/os/real_runtime.h"
#include "tests/helpers/rpc_programs.h"
#include "tests/unit/backends/shared_map_store.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;
using testing::SharedMap;
using testing::SharedMapStore;

class SharedMapRendezvous final : public Rendezvous {
 public:
  explicit SharedMapRendezvous(SharedMap& map) : map_(map) {}
  Result<std::unique_ptr<Store>> tcp(std::string_view, Time timeout) override { return open(timeout); }
  Result<std::unique_ptr<Store>> env(Time timeout) override { return open(timeout); }
  Result<std::unique_ptr<Store>> file(std::string_view, Time timeout) override { return open(timeout); }
  Result<std::unique_ptr<Store>> folder(std::string_view, Time timeout) override { return open(timeout); }

 private:
  Result<std::unique_ptr<Store>> open(Time timeout) {
    auto store = std::make_unique<SharedMapStore>(map_);
    store->set_timeout(timeout);
    return std::unique_ptr<Store>(std::move(store));
  }
  SharedMap& map_;
};

std::vector<RpcLog> over_gloo(const RpcProgram& program) {
  std::signal(SIGPIPE, SIG_IGN);
  SharedMap map;
  std::vector<RpcLog> logs(static_cast<std::size_t>(program.ranks));
  std::vector<std::thread> ranks;
  for (Rank rank = 0; rank < program.ranks; ++rank)
    ranks.emplace_back([&, rank] {
      RealRuntime runtime;
      auto backend = make_gloo_backend(runtime);
      ASSERT_TRUE(backend.ok()) << backend.error().message;
      SharedMapRendezvous rendezvous(map);
      FilesBelow files(".");
      FlightRecorder recorder(rank, runtime);
      RankEnvironment env{rank, program.ranks, 0, 1, runtime, **backend, rendezvous, files, recorder, {}};
      const Status status = program.run(env, logs[static_cast<std::size_t>(rank)], 50_ms);
      EXPECT_TRUE(status.ok()) << status.error().message;
    });
  for (std::thread& rank : ranks) rank.join();
  return logs;
}

const RpcLogEntry* entry(const RpcLog& log, std::string_view what) {
  for (const RpcLogEntry& e : log)
    if (e.what == what) return &e;
  ADD_FAILURE() << "no entry " << what;
  return nullptr;
}

TEST(RpcOverGloo, EveryProgramEnds) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  for (const char* name :
       {"calls", "rrefs", "to_here_in_server", "not_graceful", "leaked_rref", "same_name", "init_twice"}) {
    SCOPED_TRACE(name);
    for (const RpcLog& log : over_gloo(*rpc_program(name))) EXPECT_FALSE(log.empty());
  }
}

TEST(RpcOverGloo, CallsAndReferencesGiveTheirValuesAndTexts) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  const RpcLog calls = over_gloo(*rpc_program("calls"))[0], rrefs = over_gloo(*rpc_program("rrefs"))[0];
  EXPECT_EQ(entry(calls, "sync")->value, "5");
  EXPECT_EQ(entry(calls, "nested back")->value, "13");
  EXPECT_EQ(entry(calls, "remote exception")->message,
            "ValueError: On WorkerInfo(id=1, name=worker1):\nValueError('bad value 17')");
  EXPECT_EQ(entry(calls, "timeout")->message,
            "RPCErr:1:RPC ran for more than set timeout (50 ms) and will now be marked with an error");
  EXPECT_EQ(entry(rrefs, "method remote")->value, "18");
  EXPECT_EQ(entry(rrefs, "fork to a third")->value, "4.0");
  EXPECT_EQ(entry(rrefs, "to_here later")->value, "\"woke\"");
}

TEST(RpcOverGloo, AWorkerThatHasLeftIsAnErrorAtOnce) {
  if (!gloo_availability().yes) GTEST_SKIP() << gloo_availability().reason;
  const RpcLog log = over_gloo(*rpc_program("not_graceful"))[0];
  EXPECT_TRUE(entry(log, "call to who shut down")->message.starts_with("eof"));
}

}  // namespace
}  // namespace pdsim
