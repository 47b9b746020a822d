// What the flight record holds of remote calls, and where a call that waits is found to wait.

#include "core/record/record_ring.h"
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/record_json.h"
#include "tests/unit/rpc/rpc_world.h"

#include <algorithm>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

RpcFunctions with_nested(RankEnvironment&) {
  RpcFunctions functions;
  functions.add("add(a, b)", [](std::int64_t a, std::int64_t b) { return a + b; });
  functions.add("nested(to, a, b)", [](Rpc& rpc, const std::string& to, std::int64_t a, std::int64_t b) {
    return rpc.rpc_sync(to, "add", {a, b});
  });
  return functions;
}

const Call* rpc_call(const RankLog& log, std::string_view name, std::string_view function) {
  const auto it = std::find_if(log.calls.begin(), log.calls.end(), [&](const Call& c) {
    return c.layer == Layer::rpc && c.name == name && c.details->rpc.function == function;
  });
  EXPECT_NE(it, log.calls.end()) << name << " " << function;
  return it == log.calls.end() ? nullptr : &*it;
}

RunRecord nested_run(RpcOptions options) {
  return run_rpc(
      world_of(2), with_nested,
      [](Rpc& rpc, RankEnvironment& env) -> Status {
        if (env.rank != 0) return {};
        (void)rpc.rpc_sync("worker1", "nested", {"worker0", 2, 3});
        const RpcFuture later = rpc.rpc_async("worker1", "add", {1, 1});
        return later.wait().status();
      },
      options);
}

TEST(RpcRecord, HoldsACallAtItsCallerAndAtItsCallee) {
  const RunRecord run = nested_run({});
  const RankLog &caller = run.ranks[0].log, &callee = run.ranks[1].log;
  const Call* asked = rpc_call(caller, "rpc_sync", "nested");
  const Call* served = rpc_call(callee, "serve", "nested");
  const Call* inside = rpc_call(callee, "rpc_sync", "add");
  ASSERT_TRUE(asked != nullptr && served != nullptr && inside != nullptr);
  EXPECT_EQ(asked->peer, 1);
  EXPECT_EQ(asked->details->rpc.worker, "worker1");
  EXPECT_EQ(served->peer, 0);
  EXPECT_EQ(served->details->rpc.request, asked->details->rpc.request);
  EXPECT_GE(served->details->rpc.server, 0);
  EXPECT_EQ(inside->parent, served->id);
  EXPECT_EQ(inside->details->rpc.server, served->details->rpc.server);
  EXPECT_LT(asked->issued, served->issued);
  EXPECT_LT(inside->finished, asked->finished);
  EXPECT_TRUE(rpc_call(caller, "rpc_async", "add")->async);
  EXPECT_EQ(rpc_call(caller, "wait", "add")->details->rpc.request,
            rpc_call(caller, "rpc_async", "add")->details->rpc.request);
}

TEST(RpcRecord, ComesBackWholeFromJsonAndFromTheRing) {
  const RunRecord run = nested_run({});
  for (const RankResult& rank : run.ranks) {
    const Result<RankResult> back = scenarios::rank_result_from_json(scenarios::to_json(rank));
    ASSERT_TRUE(back.ok()) << back.error().message;
    ASSERT_EQ(back->log.calls.size(), rank.log.calls.size());
    const RingShape shape{64, 64};
    std::vector<std::uint64_t> words(RecordRing::bytes_for(shape) / 8);
    RecordRing ring(std::as_writable_bytes(std::span(words)), shape, rank.log.rank, 1);
    for (const Call& call : rank.log.calls) ring.write(call);
    const Result<RingRecord> read = read_record_ring(std::as_bytes(std::span(words)));
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(read->log.calls.size(), rank.log.calls.size());
    for (std::size_t i = 0; i < rank.log.calls.size(); ++i) {
      EXPECT_EQ(*back->log.calls[i].details, *rank.log.calls[i].details);
      EXPECT_EQ(*read->log.calls[i].details, *rank.log.calls[i].details);
    }
  }
}

TEST(RpcRecord, LeadsFromACallOverTheWorkersToTheThreadsThatAllWait) {
  const RunRecord run = nested_run({.server_threads = 1, .timeout = 2_s});
  ASSERT_TRUE(run.deadlocked);
  const Call* asked = rpc_call(run.ranks[0].log, "rpc_sync", "nested");
  ASSERT_NE(asked, nullptr);
  const scenarios::RpcChain chain = scenarios::rpc_chain(run, 0, *asked, run.deadlock_at);
  ASSERT_EQ(chain.hops.size(), 2U);
  EXPECT_EQ(chain.hops[0].wait, scenarios::RpcWait::in_function);
  EXPECT_EQ(chain.hops[1].wait, scenarios::RpcWait::for_own_server);
  EXPECT_EQ(chain.hops[1].caller, 1);
  EXPECT_EQ(chain.back_to, 1U);
  EXPECT_EQ(scenarios::sits_in(run.ranks[0].log, run.deadlock_at), asked);
}

TEST(RpcRecord, NamesAFunctionThatTheCalleeDoesNotHave) {
  const RunRecord run = run_rpc(world_of(2), with_nested, [](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 0) return {};
    EXPECT_FALSE(rpc.rpc_sync("worker1", "ad", {2, 3}).ok());
    return {};
  });
  const Note* note = scenarios::first_note<notes::RpcFunctionMissing>(run.ranks[1].log);
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->as<notes::RpcFunctionMissing>().function, "ad");
  EXPECT_EQ(note->as<notes::RpcFunctionMissing>().nearest, "add");
}

}  // namespace
}  // namespace pdsim
