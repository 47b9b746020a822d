// The properties can fail: planted mistakes in algorithms and worlds are found, and shrunk to a few ranks and elements.
#include "tests/property/properties.h"
#include "tests/property/worlds/sim_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pdsim::property {
namespace {

const Property& property_named(std::string_view name) {
  const auto all = properties();
  return *std::find_if(all.begin(), all.end(), [&](const Property& p) { return p.name == name; });
}

// A ring with one thing wrong.
enum class Mistake { misses_the_last_round, gathers_the_wrong_chunk, forgets_the_last_element, adds_twice };

Plan wrong_ring(PlanArgs a, Mistake mistake) {
  const Rank next = (a.rank + 1) % a.size, prev = (a.rank + a.size - 1) % a.size;
  Slice mine = a.whole();
  if (mistake == Mistake::forgets_the_last_element && mine.count > 0) --mine.count;
  Slice from = mine;
  from.buffer = BufferId::input;
  co_yield round(copy(mine, from));
  for (int k = 0; k < a.size - 1; ++k) {
    const Slice in = a.chunk(a.rank + a.size - k - 1);
    if (mistake == Mistake::adds_twice && k == 1) co_yield round(reduce_into(in, in));
    co_yield round(send(next, a.chunk(a.rank + a.size - k)), receive_reduce(prev, in));
  }
  const int rounds = a.size - 1 - (mistake == Mistake::misses_the_last_round ? 1 : 0);
  const int off = mistake == Mistake::gathers_the_wrong_chunk ? 1 : 0;
  for (int k = 0; k < rounds; ++k)
    co_yield round(send(next, a.chunk(a.rank + a.size + 1 - k)), receive(prev, a.chunk(a.rank + a.size - k + off)));
}

template <Mistake mistake>
Plan planted(PlanArgs a) {
  return wrong_ring(a, mistake);
}

struct Planted {
  Algorithm row;
  int most_ranks;
  std::int64_t most_elements;
};

const Planted mistakes[] = {
    {{CollectiveKind::all_reduce, "misses_the_last_round", planted<Mistake::misses_the_last_round>}, 3, 3},
    {{CollectiveKind::all_reduce, "gathers_the_wrong_chunk", planted<Mistake::gathers_the_wrong_chunk>}, 3, 3},
    {{CollectiveKind::all_reduce, "forgets_the_last_element", planted<Mistake::forgets_the_last_element>}, 3, 3},
    {{CollectiveKind::all_reduce, "adds_twice", planted<Mistake::adds_twice>}, 3, 3},
};

TEST(PlantedMistake, IsFoundAndShrunkToAtMostThreeRanksAndThreeElements) {
  SimWorld world;
  for (const Planted& mistake : mistakes) {
    const Outcome outcome = check(property_named("equals_the_sequential_reference"), world, mistake.row, 100);
    ASSERT_TRUE(outcome.smallest.has_value()) << mistake.row.name << " was not found";
    EXPECT_LE(outcome.smallest->ranks, mistake.most_ranks) << outcome.failure;
    EXPECT_LE(outcome.smallest->count, mistake.most_elements) << outcome.failure;
    EXPECT_EQ(outcome.smallest->schedule, 0U) << outcome.failure;
    EXPECT_EQ(outcome.smallest->numbers, Numbers::exact) << outcome.failure;
  }
}

TEST(PlantedMistake, IsToldInOneLineThatReplaysIt) {
  SimWorld world;
  const Property& property = property_named("equals_the_sequential_reference");
  const Outcome outcome = check(property, world, mistakes[2].row, 100);
  EXPECT_EQ(
      outcome.replay,
      "PDSIM_CASE='all_reduce/forgets_the_last_element ranks=1 nodes=1 count=1 i32 sum root=0 numbers=exact data=0 "
      "schedule=0 on=ideal' test_property --gtest_filter='*sim*equals_the_sequential_reference*'");
  ASSERT_TRUE(outcome.smallest.has_value());
  EXPECT_EQ(check_one(property, world, *outcome.smallest).replay, outcome.replay);
}

// A message that arrives with a byte turned over, however late it comes.
TEST(PlantedMistake, OfTheWorldIsFound) {
  SimWorld world([](sim::WorldSpec& spec, sim::RunOptions&) {
    sim::FaultSpec fault;
    fault.kind = FaultKind::corrupt;
    fault.match.nth = IntSet::of({1, 3});
    spec.faults.push_back(fault);
  });
  const Algorithm* ring = find_algorithm(CollectiveKind::all_reduce, "ring").value();
  for (const char* name : {"equals_the_sequential_reference", "all_ranks_agree", "composition_laws_hold"}) {
    const Outcome outcome = check(property_named(name), world, *ring, 100);
    ASSERT_TRUE(outcome.smallest.has_value()) << name;
    EXPECT_LE(outcome.smallest->ranks, 3) << outcome.failure;
    EXPECT_LE(outcome.smallest->count, 3) << outcome.failure;
  }
}

// One rank's clock drives the schedule: the same seed no longer repeats.
TEST(PlantedMistake, InTheSeedIsFound) {
  int run = 0;
  SimWorld world([&run](sim::WorldSpec& spec, sim::RunOptions&) { spec.intra.latency = Time{5'000'000 + ++run}; });
  const Algorithm* ring = find_algorithm(CollectiveKind::all_reduce, "ring").value();
  const Outcome outcome = check(property_named("the_same_seed_repeats_exactly"), world, *ring, 100);
  ASSERT_TRUE(outcome.smallest.has_value());
  EXPECT_LE(outcome.smallest->ranks, 2) << outcome.failure;
}

TEST(CaseText, IsReadBackAsTheCaseItWasWrittenFor) {
  for (const Algorithm& algorithm : algorithms()) {
    if (row(algorithm.kind).point_to_point) continue;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const CollectiveCase c = draw_case(algorithm, seed);
      EXPECT_EQ(case_of(to_text(c)), c) << to_text(c);
    }
  }
  for (const char* text : {"", "all_reduce", "all_reduce/ring", "nothing/ring ranks=2", "all_reduce/ring ranks=0",
                           "all_reduce/ring ranks=two", "all_reduce/ring f31", "all_reduce/ring colour=2"})
    EXPECT_FALSE(case_of(text).has_value()) << text;
}

}  // namespace
}  // namespace pdsim::property
