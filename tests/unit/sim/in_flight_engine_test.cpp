// The in-flight engine does what the exchange does: the same messages, at the same times and in the same order, to the fingerprint.
#include "core/group/init_process_group.h"
#include "tests/unit/sim/engines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pdsim::sim {
namespace {

struct Shape {
  const char* name;
  int nodes, ranks_per_node;
  Sharing sharing;
  Topology topology;
};

Topology topology_of(Topology::Kind kind, int leaf, std::array<int, 3> sides) {
  Topology topology;
  topology.kind = kind;
  topology.hop = 1_us;
  topology.leaf = leaf;
  topology.oversubscription = 3.0;
  topology.sides = sides;
  return topology;
}

std::vector<Shape> shapes() {
  using Kind = Topology::Kind;
  return {{"one rank", 1, 1, Sharing::ports, {}},
          {"ports", 1, 5, Sharing::ports, {}},
          {"node links", 3, 3, Sharing::links, {}},
          {"fat tree", 1, 8, Sharing::links, topology_of(Kind::fat_tree, 3, {1, 1, 1})},
          {"rails", 3, 2, Sharing::links, topology_of(Kind::rail, 1, {1, 1, 1})},
          {"torus", 1, 6, Sharing::links, topology_of(Kind::torus, 1, {3, 2, 1})}};
}

WorldSpec spec_of(const Shape& shape, const char* backend = "gloo") {
  WorldSpec spec = world(shape.ranks_per_node, backend);
  spec.nodes = shape.nodes;
  spec.two_level = shape.nodes > 1;
  spec.intra.latency = 3_us;
  spec.intra.bandwidth = Rate{20'000'000'000};
  spec.inter = spec.intra;
  spec.inter.latency = 11_us;
  spec.inter.header = Bytes{7};
  spec.reduce_bandwidth = Rate{90'000'000'000};
  spec.sharing = shape.sharing;
  spec.topology = shape.topology;
  spec.payload = false;
  spec.buffering = Buffering::zero;
  return spec;
}

void expect_same(const WorldSpec& spec, const GroupBody& body, const std::string& what,
                 const std::string& strategy = "fifo") {
  RunOptions options;
  options.strategy = strategy;
  options.record_messages = true;
  options.engine = Engine::in_flight;
  const RunRecord flowing = with_group(spec, body, options);
  options.engine = Engine::exchange;
  const RunRecord exchanged = with_group(spec, body, options);
  ASSERT_EQ(flowing.fingerprint, exchanged.fingerprint) << what;
  EXPECT_EQ(flowing.events, exchanged.events) << what;
  EXPECT_EQ(flowing.message_count, exchanged.message_count) << what;
  EXPECT_EQ(flowing.elapsed, exchanged.elapsed) << what;
  EXPECT_EQ(flowing.deadlocked, exchanged.deadlocked) << what;
  EXPECT_EQ(flowing.choices, exchanged.choices) << what;
  EXPECT_EQ(flowing.watchdog, exchanged.watchdog) << what;
  ASSERT_EQ(flowing.messages.size(), exchanged.messages.size()) << what;
  for (std::size_t i = 0; i < flowing.messages.size(); ++i)
    ASSERT_EQ(flowing.messages[i].arrived, exchanged.messages[i].arrived) << what << ", message " << i;
  for (std::size_t r = 0; r < flowing.ranks.size(); ++r) {
    const RankLog& one = flowing.ranks[r].log;
    const RankLog& two = exchanged.ranks[r].log;
    EXPECT_EQ(one.end, two.end) << what << ", rank " << r;
    EXPECT_EQ(one.ended, two.ended) << what << ", rank " << r;
    EXPECT_EQ(one.error.message, two.error.message) << what << ", rank " << r;
    ASSERT_EQ(one.calls.size(), two.calls.size()) << what << ", rank " << r;
    for (std::size_t i = 0; i < one.calls.size(); ++i) {
      EXPECT_EQ(one.calls[i].finished, two.calls[i].finished) << what << ", rank " << r;
      EXPECT_EQ(one.calls[i].state, two.calls[i].state) << what << ", rank " << r;
    }
  }
}

Status call(ProcessGroup& g, const Algorithm& algorithm, std::int64_t count) {
  CallOptions options;
  options.algorithm = algorithm.name;
  return wait(g.start(call_of(algorithm, count, g.rank(), g.size()), options));
}

// Ranks come at different times, and to the second call when the first has let them go.
TEST(InFlightEngine, DoesWhatTheExchangeDoesForEveryAlgorithm) {
  for (const Shape& shape : shapes())
    for (const Algorithm& algorithm : algorithms()) {
      if (!is_even_collective(algorithm)) continue;
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{100'000}})
        expect_same(
            spec_of(shape),
            [&](RankEnvironment& env, ProcessGroup& g) -> Status {
              env.runtime.compute(Time{g.rank() % 3 * 700'000});
              PDSIM_TRY(call(g, algorithm, count));
              return call(g, algorithm, count);
            },
            std::string(shape.name) + ", " + std::string(name_of(algorithm.kind)) + " " + std::string(algorithm.name));
    }
}

TEST(InFlightEngine, DrawsWhatTheExchangeDraws) {
  for (const char* strategy : {"fifo", "random", "replay:3.1.4.1.5.9.2.6"}) {
    WorldSpec spec = spec_of(shapes()[2]);
    spec.intra.jitter = spec.inter.jitter = 5_us;
    spec.seed = 11;
    expect_same(
        spec,
        [](RankEnvironment&, ProcessGroup& g) -> Status {
          for (int i = 0; i < 3; ++i) PDSIM_TRY(wait(g.all_reduce({nullptr, DType::f32, 5000}, ReduceOp::sum)));
          return {};
        },
        strategy, strategy);
    spec.inter.loss = 0.02;  // a rank whose message is lost waits until the watchdog
    expect_same(
        spec,
        [](RankEnvironment&, ProcessGroup& g) -> Status {
          for (int i = 0; i < 9; ++i) PDSIM_TRY(wait(g.all_reduce({nullptr, DType::f32, 5000}, ReduceOp::sum)));
          return {};
        },
        "loss", strategy);
  }
}

bool has_wide_round(const Algorithm& algorithm, int size) {
  for (Rank rank = 0; rank < size; ++rank)
    for (Plan plan = algorithm.plan({rank, size, 10, size - 1}); plan.next();)
      if (plan.steps().size() > 64) return true;
  return false;
}

TEST(InFlightEngine, GivesWidePlansToTheExchange) {
  Shape shape = shapes()[1];
  shape.ranks_per_node = 70;
  int wide = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_even_collective(algorithm) || !has_wide_round(algorithm, shape.ranks_per_node)) continue;
    ++wide;
    expect_same(
        spec_of(shape),
        [&](RankEnvironment&, ProcessGroup& g) -> Status {
          PDSIM_TRY(wait(g.barrier()));
          return call(g, algorithm, 10);
        },
        std::string(name_of(algorithm.kind)) + " " + std::string(algorithm.name));
  }
  EXPECT_GT(wide, 2);
}

TEST(InFlightEngine, GivesCallsThatDifferToTheExchange) {
  for (const char* backend : {"gloo", "nccl"})
    for (const Rank odd : {0, 2, 4})
      expect_same(
          spec_of(shapes()[1], backend),
          [odd](RankEnvironment& env, ProcessGroup& g) -> Status {
            env.runtime.compute(Time{g.rank() * 2'000'000});
            CallOptions options;
            options.timeout = 1_ms;
            if (g.rank() == odd) return wait(g.all_reduce({nullptr, DType::f32, 2000}, ReduceOp::sum, options));
            return wait(g.all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum, options));
          },
          backend);
}

TEST(InFlightEngine, EndsAsTheExchangeWhenARankStaysAwayOrGoesInTheMiddle) {
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"})
    for (const Time compute : {0_us, 8_us, 20_us})
      expect_same(
          spec_of(shapes()[1], backend),
          [compute](RankEnvironment& env, ProcessGroup& g) -> Status {
            CallOptions options;
            options.timeout = 1_ms;
            const auto work = g.all_reduce({nullptr, DType::f32, 100'000}, ReduceOp::sum, options);
            if (g.rank() != 1) return wait(work);
            env.runtime.compute(compute);
            return Error{Code::internal, "rank 1 gives up", {}};  // and its group ends with it
          },
          std::string(backend) + " " + to_string(compute));
}

TEST(InFlightEngine, LeavesWatchdogsAlone) {
  for (const char* backend : {"gloo", "nccl"})
    for (const Time timeout : {1_us, 9_us, 33_us, 200_us})
      expect_same(
          spec_of(shapes()[3], backend),
          [timeout](RankEnvironment& env, ProcessGroup& g) -> Status {
            env.runtime.compute(Time{g.rank() * 500'000});
            CallOptions options;
            options.timeout = timeout;
            PDSIM_TRY(wait(g.all_reduce({nullptr, DType::f32, 200'000}, ReduceOp::sum, options)));
            return wait(g.barrier());
          },
          std::string(backend) + " " + to_string(timeout));
}

TEST(InFlightEngine, StartsAgainInAGroupThatIsCreatedAgain) {
  for (const Rank absent : {0, 1, 4})
    expect_same(
        spec_of(shapes()[1]),
        [absent](RankEnvironment& env, ProcessGroup& g) -> Status {
          CallOptions options;
          options.timeout = 1_ms;
          if (env.rank != absent) (void)wait(g.all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum, options));
          env.runtime.sleep_until(5_ms);
          auto again = init_process_group(env, 1_s);
          PDSIM_TRY(again.status());
          for (int i = 0; i < 3; ++i) PDSIM_TRY(wait(again->all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum)));
          return {};
        },
        std::to_string(absent));
}

TEST(InFlightEngine, KeepsCallsAndMessagesOfTheProgramApart) {
  expect_same(
      spec_of(shapes()[3]),
      [](RankEnvironment&, ProcessGroup& g) -> Status {
        const auto first = g.all_reduce({nullptr, DType::f32, 10'000}, ReduceOp::sum);
        const auto second = g.broadcast({nullptr, DType::f32, 99'000}, 1);
        const Rank partner = g.rank() ^ 1;
        const auto received = g.recv({nullptr, DType::f32, 4000}, partner, 0);
        const auto sent = g.send({nullptr, DType::f32, 4000}, partner, 0);
        PDSIM_TRY(wait(received));
        PDSIM_TRY(wait(sent));
        PDSIM_TRY(wait(second));
        PDSIM_TRY(wait(first));
        return wait(g.barrier());
      },
      "together");
}

}  // namespace
}  // namespace pdsim::sim
