// What the flight record holds of remote calls, and where a call that waits is found to wait.

#include "core/nn/functional.h"
#include "core/record/record_ring.h"
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/record_json.h"
#include "tests/unit/rpc/rpc_world.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
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

// `chain` adds at worker 2 on behalf of worker 1; `dig` keeps all server threads of its worker, and never ends.
RpcFunctions with_chain(RankEnvironment&) {
  RpcFunctions functions;
  functions.add("add(a, b)", [](const nn::Tensor& a, const nn::Tensor& b) -> Result<RpcValue> {
    const Result<nn::Tensor> sum = nn::add(a, b);
    if (!sum.ok()) return sum.error();
    return RpcValue(*sum);
  });
  functions.add("chain(a, b)", [](Rpc& rpc, const nn::Tensor& a, const nn::Tensor& b) {
    return rpc.rpc_sync("worker2", "add", {a, b});
  });
  functions.add("dig()", [](Rpc& rpc) { return rpc.rpc_sync("worker2", "dig"); });
  functions.add("train()", [](Rpc& rpc) -> Result<RpcValue> {
    nn::Tensor weight = nn::Tensor::from({1, 2}, {2}, DType::f64);
    weight.set_requires_grad(true);
    const auto context = DistributedContext::begin(rpc);
    if (!context.ok()) return context.error();
    const Result<RpcValue> sum = (*context)->rpc().rpc_sync("worker2", "add", {weight, weight});
    if (!sum.ok()) return sum.error();
    const Result<nn::Tensor> loss = nn::sum(sum->as<nn::Tensor>());
    if (const Status ran = (*context)->rpc().backward((*context)->id(), std::span(&*loss, 1)); !ran.ok()) return ran.error();
    return RpcValue();
  });
  return functions;
}

TEST(RpcRecord, GivesABackwardInsideOfAFunctionTheThreadThatServesIt) {
  const RunRecord run = run_rpc(world_of(3), with_chain, [](Rpc& rpc, RankEnvironment& env) -> Status {
    return env.rank == 0 ? rpc.rpc_sync("worker1", "train").status() : Status();
  });
  ASSERT_TRUE(all_returned(run));
  const RankLog& worker1 = run.ranks[1].log;
  const Call* served = rpc_call(worker1, "serve", "train");
  const Call* sent = rpc_call(worker1, "backward", "backward");
  ASSERT_TRUE(served != nullptr && sent != nullptr);
  EXPECT_EQ(sent->peer, 2);
  EXPECT_EQ(sent->parent, served->id);
  EXPECT_EQ(sent->details->rpc.server, served->details->rpc.server);
  const Call* waited = rpc_call(worker1, "wait", "backward");
  ASSERT_NE(waited, nullptr);
  EXPECT_EQ(waited->details->rpc.server, served->details->rpc.server);
}

TEST(RpcRecord, LeadsFromABackwardOverTheWorkersToTheOneThatDoesNotTakeItsGradients) {
  const RunRecord run = run_rpc(
      world_of(3), with_chain,
      [](Rpc& rpc, RankEnvironment& env) -> Status {
        if (env.rank != 0) return {};
        nn::Tensor weight = nn::Tensor::from({1, 2}, {2}, DType::f64);
        weight.set_requires_grad(true);
        const auto context = DistributedContext::begin(rpc);
        const Result<RpcValue> sum = (*context)->rpc().rpc_sync("worker1", "chain", {weight, weight});
        if (!sum.ok()) return sum.error();
        const RpcFuture digs = rpc.rpc_async("worker2", "dig");
        const Result<nn::Tensor> loss = nn::sum(sum->as<nn::Tensor>());
        return rpc.backward((*context)->id(), std::span(&*loss, 1));
      },
      {.server_threads = 2, .timeout = Time{}});
  ASSERT_TRUE(run.deadlocked);
  const Call* waits = scenarios::sits_in(run.ranks[0].log, run.deadlock_at);
  ASSERT_NE(waits, nullptr);
  const scenarios::RpcChain chain = scenarios::rpc_chain(run, 0, *waits, run.deadlock_at);
  ASSERT_GE(chain.hops.size(), 2U);
  EXPECT_EQ(chain.hops[0].callee, 1);
  EXPECT_EQ(chain.hops[0].wait, scenarios::RpcWait::in_function);
  EXPECT_EQ(chain.hops[1].caller, 1);
  EXPECT_EQ(chain.hops[1].callee, 2);
  EXPECT_EQ(chain.hops[1].wait, scenarios::RpcWait::for_a_server);
  EXPECT_TRUE(scenarios::served_at(run.ranks[1].log, run.deadlock_at).empty()) << "it has passed its gradients on";
}

struct Box final : RpcObject {
  std::string type() const override { return "Box"; }
};

TEST(RpcRecord, SaysWhichReferenceARemoteMethodMakesAndWhoseMethodItIs) {
  const auto with_box = [](RankEnvironment&) {
    RpcFunctions functions;
    functions.add("Box()", [] { return std::make_shared<Box>(); });
    functions.add("Box.size(self)", [](Box&) { return std::int64_t{3}; });
    return functions;
  };
  RpcId box_id, size_id;
  const RunRecord run = run_rpc(world_of(2), with_box, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 0) return {};
    const RRef box = *rpc.remote("worker1", "Box"), size = *rpc.remote(box, "size");
    box_id = box.id();
    size_id = size.id();
    return rpc.to_here(size).status();
  });
  ASSERT_TRUE(all_returned(run));
  const auto ids_of = [&](std::string_view name, std::string_view function) {
    const RpcDetails& rpc = rpc_call(run.ranks[0].log, name, function)->details->rpc;
    return std::pair(RpcId{rpc.rref_on, rpc.rref}, RpcId{rpc.object_on, rpc.object});
  };
  EXPECT_EQ(ids_of("remote", "Box"), std::pair(box_id, RpcId{}));
  EXPECT_EQ(ids_of("remote", "size"), std::pair(size_id, box_id));
  EXPECT_EQ(ids_of("to_here", "to_here"), std::pair(size_id, RpcId{}));
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
