// Links are timed in the simulated world, where what must come out is known.
#include "core/measure/pairs.h"

#include "sim/run.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

using namespace literals;

std::vector<PairTimes> timed(const sim::WorldSpec& spec) {
  const PairRequest request;
  const auto run = sim::run(spec, {}, pair_program(request));
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run.ok() ? pair_times(request, run->ranks) : std::vector<PairTimes>{};
}

sim::WorldSpec world(int ranks) {
  sim::WorldSpec spec;
  spec.ranks_per_node = ranks;
  spec.intra.latency = 5_us;
  spec.intra.bandwidth = 10_GB_per_s;
  spec.inter = spec.intra;
  return spec;
}

void expect_near(double got, double want) { EXPECT_NEAR(got, want, want * 0.001); }

TEST(FitLink, GivesBackTheLinkThatMadeTheTimes) {
  const std::vector<std::int64_t> bytes{8, 1024, 1 << 20};
  std::vector<Time> times;
  for (const std::int64_t n : bytes) times.push_back(LinkFit{7_us, 25_GB_per_s}.of(n));
  const LinkFit fit = fit_link(bytes, times);
  expect_near(fit.latency.us(), 7.0);
  expect_near(static_cast<double>(fit.bandwidth.bytes_per_s), 25e9);
}

TEST(FitLink, NeverGivesANegativePart) {
  const LinkFit falling = fit_link({8, 1 << 20}, {9_us, 3_us});
  EXPECT_GT(falling.latency.ps, 0);
  EXPECT_EQ(falling.bandwidth.bytes_per_s, 0);  // none seen
  const LinkFit steep = fit_link({1 << 10, 1 << 20}, {1_ns, 1_s});
  EXPECT_EQ(steep.latency.ps, 0);
  EXPECT_GT(steep.bandwidth.bytes_per_s, 0);
}

TEST(FitLink, TakesNoMessageForSlowerThanALongerOne) {
  const std::vector<std::int64_t> bytes{8, 1024, 64 << 10, 1 << 20};
  const LinkFit link{5_us, 1_GB_per_s};
  std::vector<Time> times;
  for (const std::int64_t n : bytes) times.push_back(link.of(n));
  times[0] = 3_ms;
  times[1] = 2_ms;
  const LinkFit fit = fit_link(bytes, times);
  EXPECT_LT(fit.of(8).us(), 80.0);
  EXPECT_GT(fit.of(1 << 20).us(), 500.0);
  EXPECT_LT(fit.of(1 << 20).us(), link.of(1 << 20).us());
}

TEST(Pairs, HaveTheLatencyAndBandwidthOfTheirLinks) {
  const std::vector<PairTimes> pairs = timed(world(4));
  ASSERT_EQ(pairs.size(), 6U);
  for (const PairTimes& pair : pairs) {
    EXPECT_LT(pair.a, pair.b);
    expect_near(pair.fit.latency.us(), 5.0);
    expect_near(static_cast<double>(pair.fit.bandwidth.bytes_per_s), 10e9);
    expect_near(pair.slowness, 1.0);
  }
}

TEST(Pairs, OfARankWithASlowPortAreSlow) {
  sim::WorldSpec spec = world(5);
  spec.speeds.push_back({IntSet::of({2}), 1.0, 1_GB_per_s});
  for (const PairTimes& pair : timed(spec)) {
    const bool slow = pair.a == 2 || pair.b == 2;
    if (slow)
      EXPECT_GT(pair.slowness, 2.0) << pair.a << " " << pair.b;
    else
      EXPECT_LE(pair.slowness, 1.01) << pair.a << " " << pair.b;
  }
}

TEST(Pairs, InVirtualTimeGiveTheSameWithOneMessageAndNoData) {
  sim::WorldSpec spec = world(5);
  spec.payload = false;
  PairRequest request;
  request.align = 1_ms;
  request.moves_data = false;
  const auto run = sim::run(spec, {}, pair_program(request));
  ASSERT_TRUE(run.ok()) << run.error().message;
  const std::vector<PairTimes> once = pair_times(request, run->ranks), often = timed(world(5));
  ASSERT_EQ(once.size(), 10U);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].one_way, often[i].one_way);
}

TEST(Pairs, AreSlowBesideThoseOfTheirClassAlone) {
  const PairRequest request;
  std::vector<PairTimes> pairs = timed(world(4));
  for (PairTimes& pair : pairs)
    for (Time& time : pair.one_way) time = pair.a == 0 ? time * 5 : time;
  classify(request, pairs, [](const PairTimes& pair) { return pair.a == 0 ? 1 : 0; });
  for (const PairTimes& pair : pairs) expect_near(pair.slowness, 1.0);
  EXPECT_EQ(median_times(request, pairs, 1).front().ps, 5 * median_times(request, pairs, 0).front().ps);
}

TEST(MedianLink, IsNotMovedByOneSlowRank) {
  sim::WorldSpec spec = world(6);
  spec.speeds.push_back({IntSet::of({0}), 1.0, 1_GB_per_s});
  expect_near(median_link(PairRequest{}, timed(spec)).latency.us(), 5.0);
}

}  // namespace
}  // namespace pdsim
