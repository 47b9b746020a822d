#include "scenarios/measure/validate.h"

#include "core/collectives/collective_shape.h"
#include "scenarios/measure/bench.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

TrialWorld world(int ranks) {
  std::string problem;
  TrialWorld world;
  world.row = world_named("sim", problem);
  world.scenario.name = "trial";
  world.scenario.world.spec.ranks_per_node = ranks;
  world.scenario.world.spec.backend = "ideal";
  return world;
}

ValidationRequest request(const TrialAlgorithm& algorithm, std::int64_t max_bytes) {
  ValidationRequest request;
  request.kind = algorithm.kind;
  request.algorithm = algorithm.name;
  request.max_bytes = max_bytes;
  return request;
}

TEST(Validate, EveryAlgorithmIsRightForEveryDtypeOperationSizeAndRoot) {
  std::int64_t cases = 0;
  for (const int ranks : {1, 3, 4})
    for (const TrialAlgorithm& algorithm : trial_algorithms(WorldKind::simulated, {}, "")) {
      const ValidationRequest asked = request(algorithm, ranks == 4 ? 1 : 4);
      const Result<Validated> v = validate(world(ranks), asked);
      ASSERT_TRUE(v.ok()) << v.error().message;
      EXPECT_EQ(v->wrong(), 0) << name_of(algorithm.kind) << " " << algorithm.name << ", " << ranks << " ranks";
      EXPECT_EQ(v->failure, "");
      EXPECT_EQ(v->cases() + v->skipped(), validation_cases(asked, ranks));
      cases += v->cases();
    }
  EXPECT_GT(cases, 5'000);
}

TEST(Validate, NamesRankElementAndBitsOfWhatAFaultCorrupted) {
  TrialWorld faulty = world(3);
  sim::FaultSpec fault;
  fault.kind = FaultKind::corrupt;
  fault.match.from = IntSet::of({1});
  faulty.scenario.world.spec.faults.push_back(fault);
  ValidationRequest asked = request({CollectiveKind::broadcast, "linear"}, 4);
  asked.dtypes = {DType::f32};
  const Result<Validated> v = validate(faulty, asked);
  ASSERT_TRUE(v.ok()) << v.error().message;
  EXPECT_GT(v->wrong(), 0);
  const ValidationTally& tally = v->result.groups.at({DType::f32, ReduceOp::sum});
  ASSERT_TRUE(tally.first);
  EXPECT_EQ(tally.first->root, 1);
  EXPECT_NE(tally.first->rank, 1);
  EXPECT_EQ(tally.first->element.element, 0);
  EXPECT_NE(tally.first->element.got_bits, tally.first->element.expected_bits);
}

TEST(Validate, AHangEndsInADiagnosis) {
  TrialWorld faulty = world(2);
  sim::FaultSpec fault;
  fault.kind = FaultKind::drop;
  fault.match.nth = IntSet::of({5});
  faulty.scenario.world.spec.faults.push_back(fault);
  const Result<Validated> v = validate(faulty, request({CollectiveKind::all_reduce, "ring"}, 16));
  ASSERT_TRUE(v.ok()) << v.error().message;
  EXPECT_NE(v->failure.find("rank 0"), std::string::npos);
  EXPECT_NE(v->failure.find("all_reduce"), std::string::npos);
}

TEST(Validate, SkipsWhatTheBackendRefusesAndSaysWhy) {
  TrialWorld gloo = world(2);
  gloo.scenario.world.spec.backend = "gloo";
  const Result<Validated> v = validate(gloo, request({CollectiveKind::all_reduce, "ring"}, 4));
  ASSERT_TRUE(v.ok()) << v.error().message;
  EXPECT_GT(v->skipped(), 0);
  EXPECT_GT(v->cases(), 0);
  EXPECT_FALSE(v->result.skip_reasons.empty());
}

// alpha 5 us, beta 1 / 12.5 GB/s, gamma 1 / 100 GB/s; us.
TEST(Bench, SimulatedTimesAreTheClosedForms) {
  struct Row {
    int ranks;
    CollectiveKind kind;
    const char* algorithm;
    std::int64_t bytes;
    double us;
  };
  const Row rows[] = {
      {4, CollectiveKind::all_reduce, "ring", 1024, 30.131},
      {4, CollectiveKind::all_reduce, "recursive_doubling", 1024, 10.184},
      {4, CollectiveKind::all_reduce, "rabenseifner", 1024, 20.131},
      {4, CollectiveKind::all_reduce, "reduce_broadcast", 1024, 20.348},
      {6, CollectiveKind::all_reduce, "recursive_doubling", 1 << 20, 387.002},
      {6, CollectiveKind::all_reduce, "rabenseifner", 1 << 20, 341.951},
      {6, CollectiveKind::all_reduce, "reduce_broadcast", 1 << 20, 564.774},
      {6, CollectiveKind::broadcast, "binomial", 1 << 20, 266.658},
      {6, CollectiveKind::broadcast, "scatter_ring", 1 << 20, 179.810},
      {6, CollectiveKind::all_to_all, "pairwise", 1 << 20, 94.905},
      {8, CollectiveKind::all_reduce, "rabenseifner", 64 << 20, 10012.444},
      {8, CollectiveKind::broadcast, "scatter_ring", 64 << 20, 9445.241},
      {8, CollectiveKind::all_to_all, "pairwise", 64 << 20, 4732.620},
  };
  for (const Row& row : rows) {
    TrialWorld simulated = world(row.ranks);
    sim::WorldSpec& spec = simulated.scenario.world.spec;
    spec.intra.latency = Time{5'000'000};
    spec.intra.bandwidth = Rate{12'500'000'000};
    spec.reduce_bandwidth = Rate{100'000'000'000};
    spec.buffering = sim::Buffering::zero;
    spec.payload = false;
    TimingRequest asked;
    asked.kind = row.kind;
    asked.algorithm = row.algorithm;
    asked.counts = {count_of_total(row.kind, row.bytes / 4, row.ranks)};
    asked.moves_data = false;
    asked.iterations = 1;
    asked.warmup = 0;
    asked.align = Time{1'000'000'000'000};
    const Result<Timed> timed = time(simulated, asked);
    ASSERT_TRUE(timed.ok()) << timed.error().message;
    ASSERT_EQ(timed->rounds.size(), 1U) << timed->failure;
    EXPECT_NEAR(timed->rounds[0].whole.us(), row.us, row.us / 1000)
        << row.algorithm << " " << row.ranks << " " << row.bytes;
  }
}

TEST(Bench, CountsTheMessagesOfThePlanAlone) {
  for (const sim::Buffering buffering : {sim::Buffering::zero, sim::Buffering::unbounded}) {
    TrialWorld simulated = world(8);
    simulated.scenario.world.spec.buffering = buffering;
    TimingRequest asked;
    asked.algorithm = "ring";
    asked.counts = {64};
    asked.moves_data = false;
    asked.iterations = 3;
    asked.warmup = 0;
    asked.align = Time{1'000'000'000'000};
    EXPECT_EQ(time(simulated, asked)->messages, 3 * 2 * 8 * 7);
  }
}

TEST(Bench, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::broadcast, 8), 1.0);
  EXPECT_EQ(total_elements(CollectiveKind::all_gather, 5, 4), 20);
  EXPECT_EQ(count_of_total(CollectiveKind::all_to_all, 20, 4), 5);
  EXPECT_EQ(count_of_total(CollectiveKind::all_reduce, 20, 4), 20);
}

}  // namespace
}  // namespace pdsim::scenarios
