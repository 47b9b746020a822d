// What schedules may change, and what they may not.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

RunOptions under(std::string strategy) {
  RunOptions options;
  options.strategy = std::move(strategy);
  return options;
}

std::string replay_of(const RunRecord& run) {
  std::string text = "replay:";
  for (const std::uint32_t choice : run.choices) text += std::to_string(choice) + ".";
  if (text.back() == '.') text.pop_back();
  return text;
}

// Rank 0 takes one number from each of the others, in any order.
std::vector<int> order_of_arrival(const RunOptions& options, std::uint64_t seed, RunRecord* record = nullptr) {
  WorldSpec spec = world(4, "ideal");
  spec.seed = seed;
  std::vector<int> order;
  RunRecord r = with_group(
      spec,
      [&order](RankEnvironment& env, ProcessGroup& g) -> Status {
        int mine = env.rank;
        const MutableView view{reinterpret_cast<std::byte*>(&mine), DType::i32, 1};
        if (env.rank != 0) PDSIM_TRY(wait(g.send(view, 0, 5)));
        PDSIM_TRY(wait(g.barrier()));
        for (int i = 1; env.rank == 0 && i < g.size(); ++i) {
          PDSIM_TRY(wait(g.recv(view, any_source, 5)));
          order.push_back(mine);
        }
        return Status{};
      },
      options);
  EXPECT_FALSE(r.deadlocked);
  if (record != nullptr) *record = std::move(r);
  return order;
}

// What rank 1 receives of the numbers 0 .. 4 that rank 0 sends eagerly with one tag.
std::vector<int> received_in_order(const WorldSpec& spec) {
  std::vector<int> got;
  (void)with_group(spec, [&got](RankEnvironment& env, ProcessGroup& g) -> Status {
    for (int i = 0; i < 5; ++i) {
      int value = i;
      const MutableView view{reinterpret_cast<std::byte*>(&value), DType::i32, 1};
      if (env.rank == 0) PDSIM_TRY(wait(g.send(view, 1, 7)));
      if (env.rank == 1) PDSIM_TRY(wait(g.recv(view, 0, 7)));
      if (env.rank == 1) got.push_back(value);
    }
    return Status{};
  });
  return got;
}

TEST(Schedules, MessagesOfOneConnectionMatchInTheOrderOfTheirSendsWhateverTheJitter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    WorldSpec spec = world(2, "ideal");
    spec.seed = seed;
    spec.sharing = Sharing::none;
    spec.intra.jitter = 1_ms;  // far longer than the time between two sends
    EXPECT_EQ(received_in_order(spec), (std::vector<int>{0, 1, 2, 3, 4})) << seed;
  }
}

TEST(Schedules, TheFaultReorderLetsAMessageOvertakeOfAnotherTagOnly) {
  WorldSpec spec = world(2, "ideal");
  FaultSpec fault;
  fault.kind = FaultKind::reorder;
  fault.match.nth = IntSet::of({2});
  spec.faults.push_back(fault);
  EXPECT_EQ(received_in_order(spec), (std::vector<int>{0, 1, 2, 3, 4}));
  std::vector<Time> arrived(2);
  spec.faults[0].match.nth = IntSet::of({1});
  (void)with_group(spec, [&arrived](RankEnvironment& env, ProcessGroup& g) -> Status {
    float value = 1.0F;
    const MutableView view{reinterpret_cast<std::byte*>(&value), DType::f32, 1};
    if (env.rank == 0)
      for (const Tag tag : {Tag{1}, Tag{2}}) PDSIM_TRY(wait(g.send(view, 1, tag)));
    if (env.rank == 1)
      for (const Tag tag : {Tag{2}, Tag{1}}) {
        PDSIM_TRY(wait(g.recv(view, 0, tag)));
        arrived[tag - 1] = env.runtime.now();
      }
    return Status{};
  });
  EXPECT_LT(arrived[1], arrived[0]);
}

TEST(Schedules, AReceiveFromAnySourceTakesEverySenderOnceInAnyOrder) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<int> order = order_of_arrival(under("random"), seed);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (std::vector<int>{1, 2, 3}));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6U) << "200 random schedules show all orders of three senders";
}

TEST(Schedules, FifoTakesTheFirstAlternativeWhateverTheSeed) {
  EXPECT_EQ(order_of_arrival(under("fifo"), 1), order_of_arrival(under("fifo"), 2));
}

TEST(Schedules, AReplayedListGivesItsScheduleWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RunRecord random;
    const std::vector<int> order = order_of_arrival(under("random"), seed, &random);
    RunRecord replayed;
    EXPECT_EQ(order_of_arrival(under(replay_of(random)), seed + 1000, &replayed), order);
    EXPECT_EQ(replayed.fingerprint, random.fingerprint);
  }
}

TEST(Schedules, AShorterOrWildListIsAScheduleToo) {
  for (const char* list : {"replay:", "replay:3", "replay:4294967295.7.7.7", "replay:0.0.0.0.0.0.0.0.0.0.0.0.0.1"})
    EXPECT_EQ(order_of_arrival(under(list), 0).size(), 3U) << list;
}

TEST(Schedules, ListsThatAreNoneAreRefused) {
  for (const char* list : {"replay", "replay:x", "replay:1.", "replay:.1", "replay:1..2", "replay:-1", "replay:1 2",
                           "replay:4294967296", "random:7", "", "FIFO"}) {
    const auto r = run(world(1), under(list), [](RankEnvironment&) { return ProgramResult{}; });
    ASSERT_FALSE(r.ok()) << list;
    EXPECT_EQ(r.error().code, Code::invalid_argument) << list;
  }
}

TEST(Schedules, DoNotChangeTheResultOfCollectivesNorWhetherTheyEnd) {
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"})
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      WorldSpec spec = world(5, backend);
      spec.seed = seed;
      spec.intra.jitter = 20_us;
      const RunRecord r = with_group(
          spec,
          [](RankEnvironment& env, ProcessGroup& g) -> Status {
            for (int i = 0; i < 3; ++i) {
              if (i == env.rank) env.runtime.compute(30_us);
              PDSIM_TRY(sum_ones(g, 7));
              PDSIM_TRY(wait(g.barrier()));
            }
            return Status{};
          },
          under("random"));
      EXPECT_FALSE(r.deadlocked) << backend << seed;
      for (const RankResult& rank : r.ranks)
        EXPECT_EQ(rank.log.end, RankEnd::returned) << backend << seed << rank.log.error.message;
    }
}

// Counts the objects of rank programs that are alive.
struct Counted {
  explicit Counted(int& n) : alive(n) { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int& alive;
};

TEST(Schedules, ParkedFibersUnwindSoThatTheirDestructorsRun) {
  int alive = 0;
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"}) {
    const RunRecord r = with_group(world(4, backend), [&alive](RankEnvironment& env, ProcessGroup& g) -> Status {
      const Counted counted(alive);
      const Result<WorkPtr> pending = env.rank == 2 ? Result<WorkPtr>(Error{}) : g.barrier();
      if (env.rank == 2) return wait(g.recv({nullptr, DType::f32, 1}, 3, 1));
      return wait(pending);
    });
    EXPECT_TRUE(r.deadlocked) << backend;
    EXPECT_EQ(alive, 0) << backend;
  }
}

}  // namespace
}  // namespace pdsim::sim
