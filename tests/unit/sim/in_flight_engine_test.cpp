// The in-flight engine does what the exchange does: the same messages, at the same times and in the same order, to the fingerprint.
#include "core/group/init_process_group.h"
#include "tests/unit/sim/engines.h"

#include <gtest/gtest.h>

#include <array>
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

// What the calls of a program move: sizes only, or numbers that differ from rank to rank and from element to element.
enum class Moves { sizes, data };
constexpr std::array both{Moves::sizes, Moves::data};

class Buffer {
 public:
  Buffer(Moves moves, Rank rank, std::int64_t count)
      : count_(count), values_(moves == Moves::data ? static_cast<std::size_t>(count) : 0) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i % 97) + static_cast<float>(rank);
  }
  MutableView view() { return {values_.empty() ? nullptr : reinterpret_cast<std::byte*>(values_.data()), DType::f32, count_}; }

 private:
  std::int64_t count_;
  std::vector<float> values_;
};

Status all_reduce(ProcessGroup& g, Moves moves, std::int64_t count, ReduceOp op = ReduceOp::sum, const CallOptions& options = {}) {
  Buffer values(moves, g.rank(), count);
  return wait(g.all_reduce(values.view(), op, options));
}

Status call(ProcessGroup& g, const Algorithm& algorithm, Moves moves, std::int64_t count) {
  CallOptions options;
  options.algorithm = algorithm.name;
  Collective collective = call_of(algorithm, count, g.rank(), g.size());
  Buffer input(moves, g.rank(), collective.input.count), output(moves, -1, collective.output.count);
  collective.input.data = input.view().data;
  collective.output.data = output.view().data;
  return wait(g.start(collective, options));
}

// Ranks come at different times, and to the second call when the first has let them go.
TEST(InFlightEngine, DoesWhatTheExchangeDoesForEveryAlgorithm) {
  for (const Shape& shape : shapes())
    for (const Algorithm& algorithm : algorithms()) {
      if (!is_even_collective(algorithm)) continue;
      const std::pair<Moves, std::int64_t> cases[]{{Moves::sizes, 1}, {Moves::sizes, 100'000}, {Moves::data, 1}, {Moves::data, 500}};
      for (const auto& one : cases)
        expect_same(
            spec_of(shape),
            [&](RankEnvironment& env, ProcessGroup& g) -> Status {
              env.runtime.compute(Time{g.rank() % 3 * 700'000});
              PDSIM_TRY(call(g, algorithm, one.first, one.second));
              return call(g, algorithm, one.first, one.second);
            },
            std::string(shape.name) + ", " + std::string(name_of(algorithm.kind)) + " " + std::string(algorithm.name));
    }
}

TEST(InFlightEngine, CombinesAsTheExchangeDoes) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max, ReduceOp::product})
    expect_same(
        spec_of(shapes()[2], "nccl"), [op](RankEnvironment&, ProcessGroup& g) -> Status { return all_reduce(g, Moves::data, 500, op); },
        std::string(name_of(op)));
}

TEST(InFlightEngine, DrawsWhatTheExchangeDraws) {
  for (const char* strategy : {"fifo", "random", "replay:3.1.4.1.5.9.2.6"})
    for (const Moves moves : both) {
      WorldSpec spec = spec_of(shapes()[2]);
      spec.intra.jitter = spec.inter.jitter = 5_us;
      spec.seed = 11;
      const auto body = [moves](RankEnvironment&, ProcessGroup& g) -> Status {
        for (int i = 0; i < 9; ++i) PDSIM_TRY(all_reduce(g, moves, 5000));
        return {};
      };
      expect_same(spec, body, strategy, strategy);
      spec.inter.loss = 0.02;  // a rank whose message is lost waits until the watchdog
      expect_same(spec, body, "loss", strategy);
    }
}

// Each kind of fault on messages, on the third that rank 1 sends, on all of them, and on those of everybody.
TEST(InFlightEngine, IsStruckByFaultsAsTheExchangeIs) {
  for (const FaultRow& row : fault_table) {
    if (row.strikes != Strikes::messages) continue;
    for (const auto& [from, nth] : {std::pair("1", "3"), std::pair("1", ""), std::pair("", "")})
      for (const Moves moves : both) {
        WorldSpec spec = spec_of(shapes()[1], "nccl");
        FaultSpec fault;
        fault.kind = row.kind;
        fault.by = 7_us;
        if (*from != 0) fault.match.from = *IntSet::parse(from);
        if (*nth != 0) fault.match.nth = *IntSet::parse(nth);
        spec.faults.push_back(fault);
        expect_same(
            spec,
            [moves](RankEnvironment& env, ProcessGroup& g) -> Status {
              env.runtime.compute(Time{g.rank() * 300'000});
              CallOptions options;
              options.timeout = 1_ms;
              for (int i = 0; i < 3; ++i) PDSIM_TRY(all_reduce(g, moves, 5000, ReduceOp::sum, options));
              return {};
            },
            std::string(row.name) + " from " + from);
      }
  }
}

// Crashes and hangs, whose peers wait, fail or are ended by their watchdogs.
TEST(InFlightEngine, LosesRanksAsTheExchangeDoes) {
  for (const char* backend : {"gloo", "nccl", "ideal"})
    for (const FaultKind kind : {FaultKind::crash, FaultKind::hang})
      for (const Time at : {2_us, 9_us, 21_us})
        for (const Moves moves : both) {
          WorldSpec spec = spec_of(shapes()[1], backend);
          FaultSpec fault;
          fault.kind = kind;
          fault.match.rank = *IntSet::parse("2");
          fault.at.time = at;
          spec.faults.push_back(fault);
          expect_same(
              spec,
              [moves](RankEnvironment&, ProcessGroup& g) -> Status {
                CallOptions options;
                options.timeout = 1_ms;
                for (int i = 0; i < 3; ++i) PDSIM_TRY(all_reduce(g, moves, 50'000, ReduceOp::sum, options));
                return {};
              },
              std::string(backend) + " " + to_string(at));
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
          return call(g, algorithm, Moves::data, 10);
        },
        std::string(name_of(algorithm.kind)) + " " + std::string(algorithm.name));
  }
  EXPECT_GT(wide, 2);
}

TEST(InFlightEngine, GivesCallsThatDifferToTheExchange) {
  for (const char* backend : {"gloo", "nccl"})
    for (const Rank odd : {0, 2, 4})
      for (const Moves moves : both)
        expect_same(
            spec_of(shapes()[1], backend),
            [odd, moves](RankEnvironment& env, ProcessGroup& g) -> Status {
              env.runtime.compute(Time{g.rank() * 2'000'000});
              CallOptions options;
              options.timeout = 1_ms;
              return all_reduce(g, moves, g.rank() == odd ? 2000 : 1000, ReduceOp::sum, options);
            },
            backend);
}

// A barrier, which has no data, meets a broadcast that has some.
TEST(InFlightEngine, LetsCallsWithAndWithoutDataMeetAsInTheExchange) {
  for (const char* backend : {"gloo", "nccl", "ideal"})
    for (const Rank odd : {0, 1, 4})
      expect_same(
          spec_of(shapes()[1], backend),
          [odd](RankEnvironment& env, ProcessGroup& g) -> Status {
            env.runtime.compute(Time{(g.rank() * 3) % 5 * 1'000'000});
            CallOptions options;
            options.timeout = 1_ms;
            Buffer values(Moves::data, g.rank(), 100);
            return g.rank() == odd ? wait(g.broadcast(values.view(), 0, options)) : wait(g.barrier(options));
          },
          std::string(backend) + ", rank " + std::to_string(odd));
}

TEST(InFlightEngine, EndsAsTheExchangeWhenARankStaysAwayOrGoesInTheMiddle) {
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"})
    for (const Time compute : {0_us, 8_us, 20_us})
      for (const Moves moves : both)
        expect_same(
            spec_of(shapes()[1], backend),
            [compute, moves](RankEnvironment& env, ProcessGroup& g) -> Status {
              CallOptions options;
              options.timeout = 1_ms;
              Buffer values(moves, g.rank(), 100'000);
              const auto work = g.all_reduce(values.view(), ReduceOp::sum, options);
              if (g.rank() != 1) return wait(work);
              env.runtime.compute(compute);
              return Error{Code::internal, "rank 1 gives up", {}};  // and its group ends with it
            },
            std::string(backend) + " " + to_string(compute));
}

TEST(InFlightEngine, LeavesWatchdogsAlone) {
  for (const char* backend : {"gloo", "nccl"})
    for (const Time timeout : {1_us, 9_us, 33_us, 200_us})
      for (const Moves moves : both)
        expect_same(
            spec_of(shapes()[3], backend),
            [timeout, moves](RankEnvironment& env, ProcessGroup& g) -> Status {
              env.runtime.compute(Time{g.rank() * 500'000});
              CallOptions options;
              options.timeout = timeout;
              PDSIM_TRY(all_reduce(g, moves, 200'000, ReduceOp::sum, options));
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
