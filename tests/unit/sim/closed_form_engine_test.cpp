// What the closed-form engine computes ends when the exchange, message by message, ends it.
#include "tests/unit/sim/engines.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::sim {
namespace {

WorldSpec quiet(int nodes, int ranks_per_node, Buffering buffering) {
  WorldSpec spec = world(ranks_per_node, "ideal");
  spec.nodes = nodes;
  spec.two_level = nodes > 1;
  spec.intra.latency = 3_us;
  spec.intra.bandwidth = Rate{20'000'000'000};
  spec.intra.header = Bytes{7};
  spec.inter.latency = 11_us;
  spec.inter.bandwidth = Rate{3'000'000'000};
  spec.reduce_bandwidth = Rate{90'000'000'000};
  spec.sharing = Sharing::none;
  spec.buffering = buffering;
  return spec;
}

struct Seen {
  std::vector<std::vector<Time>> ends;  // by rank
  std::int64_t messages = 0, events = 0;
  bool deadlocked = false;
};

// Every call `times` times, one after the other; `late` ranks compute before the first.
Seen see(const WorldSpec& spec, Engine engine, const Algorithm& algorithm, std::int64_t count, int times, Rank late) {
  Seen seen;
  seen.ends.resize(static_cast<std::size_t>(spec.ranks()));
  const auto body = [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    if (g.rank() == late) env.runtime.compute(1_us);
    for (int i = 0; i < times; ++i) {
      CallOptions options;
      options.algorithm = algorithm.name;
      PDSIM_TRY(wait(g.start(call_of(algorithm, count, g.rank(), g.size()), options)));
      seen.ends[static_cast<std::size_t>(g.rank())].push_back(env.runtime.now());
    }
    return {};
  };
  const RunRecord run = with_group(spec, body, by(engine));
  seen.messages = run.message_count;
  seen.events = run.events;
  seen.deadlocked = run.deadlocked;
  return seen;
}

TEST(ClosedFormEngine, EndsWhenTheExchangeEndsForEveryAlgorithm) {
  int faster = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_even_collective(algorithm)) continue;
    for (const Buffering buffering : {Buffering::zero, Buffering::unbounded})
      for (const auto& [nodes, per_node] : {std::pair(1, 1), std::pair(1, 2), std::pair(1, 7), std::pair(3, 3)})
        for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1000}}) {
          const WorldSpec spec = quiet(nodes, per_node, buffering);
          for (const Rank late : {no_rank, 0}) {
            const Seen computed = see(spec, Engine::closed_form, algorithm, count, 2, late);
            const Seen exchanged = see(spec, Engine::exchange, algorithm, count, 2, late);
            ASSERT_EQ(computed.ends, exchanged.ends) << name_of(algorithm.kind) << " " << algorithm.name << ", "
                                                     << nodes << " x " << per_node << ", " << count;
            ASSERT_EQ(computed.messages, exchanged.messages) << name_of(algorithm.kind) << " " << algorithm.name;
            faster += computed.events < exchanged.events ? 1 : 0;
          }
        }
  }
  EXPECT_GT(faster, 300);
}

TEST(ClosedFormEngine, ARankThatStaysAwayIsADeadlockAsEver) {
  for (const Buffering buffering : {Buffering::zero, Buffering::unbounded}) {
    const auto body = [](RankEnvironment&, ProcessGroup& g) -> Status {
      if (g.rank() == 1) return wait(g.barrier());
      return wait(g.all_reduce({nullptr, DType::f32, 8}, ReduceOp::sum));
    };
    WorldSpec spec = quiet(1, 3, buffering);
    const RunRecord computed = with_group(spec, body, by(Engine::closed_form));
    const RunRecord exchanged = with_group(spec, body, by(Engine::exchange));
    EXPECT_TRUE(computed.deadlocked);
    EXPECT_EQ(computed.deadlock_at, exchanged.deadlock_at);
  }
}

TEST(ClosedFormEngine, CallsInFlightTogetherEndAsInTheExchange) {
  const auto ends = [](const WorldSpec& spec, Engine engine) {
    std::vector<Time> all;
    (void)with_group(
        spec,
        [&](RankEnvironment& env, ProcessGroup& g) -> Status {
          const auto first = g.all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum);
          const auto second = g.all_reduce({nullptr, DType::f32, 10}, ReduceOp::sum);
          PDSIM_TRY(wait(second));
          all.push_back(env.runtime.now());
          PDSIM_TRY(wait(first));
          all.push_back(env.runtime.now());
          PDSIM_TRY(wait(g.barrier()));
          all.push_back(env.runtime.now());
          return {};
        },
        by(engine));
    return all;
  };
  const WorldSpec spec = quiet(2, 2, Buffering::zero);
  EXPECT_EQ(ends(spec, Engine::closed_form), ends(spec, Engine::exchange));
}

TEST(ClosedFormEngine, AWatchdogThatFiresBeforeTheEndIsNotOvertaken) {
  for (const char* backend : {"gloo", "nccl"}) {
    WorldSpec spec = quiet(1, 4, Buffering::zero);
    spec.backend = backend;
    const auto body = [](RankEnvironment&, ProcessGroup& g) -> Status {
      CallOptions options;
      options.timeout = 20_us;
      return wait(g.all_reduce({nullptr, DType::f32, 1 << 20}, ReduceOp::sum, options));
    };
    const RunRecord computed = with_group(spec, body, by(Engine::closed_form));
    const RunRecord exchanged = with_group(spec, body, by(Engine::exchange));
    for (std::size_t r = 0; r < 4; ++r) {
      EXPECT_EQ(computed.ranks[r].log.end, exchanged.ranks[r].log.end) << backend;
      EXPECT_NE(computed.ranks[r].log.end, RankEnd::returned) << backend;
      EXPECT_EQ(computed.ranks[r].log.ended, exchanged.ranks[r].log.ended) << backend;
    }
  }
}

TEST(ClosedFormEngine, RecordsItsMessages) {
  RunOptions options;
  options.record_messages = true;
  const WorldSpec spec = quiet(1, 4, Buffering::zero);
  const auto body = [](RankEnvironment&, ProcessGroup& g) -> Status {
    return wait(g.all_reduce({nullptr, DType::f32, 8}, ReduceOp::sum));
  };
  const RunRecord recorded = with_group(spec, body, options);
  EXPECT_EQ(recorded.messages.size(), 24U);
  EXPECT_EQ(recorded.message_count, 24);
  EXPECT_EQ(recorded.fingerprint, with_group(spec, body).fingerprint);
}

}  // namespace
}  // namespace pdsim::sim
