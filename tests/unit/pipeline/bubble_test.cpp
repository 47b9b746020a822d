// The bubble rates that Zero Bubble Pipeline Parallelism publishes (its tables 5 and 9), from the times it gives.

#include "core/pipeline/families.h"
#include "core/pipeline/timing.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

struct Published {
  std::string_view model;
  int microbatches;
  double forward, input_backward, weight_backward, message;  // ms
  int stages_per_rank;                                       // of the interleaved schedule
  double one_f_one_b, interleaved, zb_h1, zb_h2;
};

constexpr std::array table{
    Published{"1.5B", 24, 18.522, 18.086, 9.337, 0.601, 3, 0.2431, 0.1055, 0.1585, 0.1083},
    Published{"1.5B", 32, 18.513, 18.086, 9.331, 0.626, 3, 0.1985, 0.0818, 0.1242, 0.0837},
    Published{"1.5B", 64, 18.546, 18.097, 9.321, 0.762, 3, 0.1240, 0.0443, 0.0674, 0.0444},
    Published{"6.2B", 24, 29.718, 29.444, 19.927, 0.527, 4, 0.2347, 0.0808, 0.1323, 0.0698},
    Published{"6.2B", 32, 29.802, 29.428, 19.530, 0.577, 4, 0.1898, 0.0628, 0.1045, 0.0559},
    Published{"6.2B", 64, 29.935, 29.621, 19.388, 0.535, 4, 0.1091, 0.0320, 0.0554, 0.0294},
};

Time of_ms(double ms) { return {static_cast<std::int64_t>(std::llround(ms * 1e6)) * 1000}; }

double rate(std::string_view family, const Published& row, int stages_per_rank) {
  const auto schedule = make_pipeline(*pipeline_family_named(family), {8, row.microbatches, stages_per_rank});
  if (!schedule.ok()) return -1;
  const auto part = [&](double ms) { return of_ms(ms / stages_per_rank); };
  const auto timing = time_pipeline(
      *schedule, {{{part(row.forward), part(row.input_backward), part(row.weight_backward)}}, of_ms(row.message)});
  return timing.ok() ? timing->bubble_rate() : -1;
}

TEST(PipelineBubbles, AreAsPublished) {
  for (const Published& row : table) {
    const std::string where = std::string(row.model) + " " + std::to_string(row.microbatches);
    EXPECT_NEAR(rate("1f1b", row, 1), row.one_f_one_b, 1e-4) << where;
    EXPECT_NEAR(rate("zb_h1", row, 1), row.zb_h1, 1e-4) << where;
    EXPECT_NEAR(rate("zb_h2", row, 1), row.zb_h2, 1e-4) << where;
  }
}

// The paper's formula has one latency fewer than the textbook order: (2v - 3) p where that has (2v - 2) p.
TEST(PipelineBubbles, OfTheInterleavedOrderAreThePublishedOnesAndOneMoreLatencyForEachRound) {
  for (const Published& row : table) {
    const double p = 8, v = row.stages_per_rank;
    const double work = row.forward + row.input_backward + row.weight_backward;
    const auto formula = [&](double wraps) {
      const double bubble = (p - 1) * work / v + (2 * (p - 1) + wraps * p) * row.message;
      return bubble / (bubble + row.microbatches * work);
    };
    EXPECT_NEAR(formula(2 * v - 3), row.interleaved, 1e-4) << row.model << " " << row.microbatches;
    EXPECT_NEAR(rate("interleaved_1f1b", row, row.stages_per_rank), formula(2 * v - 2), 1e-4)
        << row.model << " " << row.microbatches;
  }
}

TEST(PipelineBubbles, OfGpipeAndOf1F1BAreOneFormulaWithoutMessages) {
  for (int p = 1; p <= 8; ++p)
    for (const int m : {p, 2 * p, 5 * p})
      for (const std::string_view family : {"gpipe", "1f1b"}) {
        const auto schedule = make_pipeline(*pipeline_family_named(family), {p, m, 1});
        ASSERT_TRUE(schedule.ok());
        const auto timing = time_pipeline(*schedule, {{{Time{1000}, Time{1000}, Time{1000}}}, Time{}});
        ASSERT_TRUE(timing.ok());
        EXPECT_NEAR(timing->bubble_rate(), (p - 1.0) / (m + p - 1.0), 1e-9) << family << " " << p << " " << m;
      }
}

// PyTorch's tutorial on pipelines over RPC: ResNet-50 in two shards, batch 120, in 1, 2, 4 and 8 micro-batches. Its master starts
// all forwards, then the backwards, which is gpipe. Two equal shards are calibrated on the first value alone.
TEST(PipelineBubbles, OfGpipeGiveTheTutorialsTimesWithinTwoAndAHalfPerCent) {
  const std::vector<std::pair<int, double>> published{{1, 16.451}, {2, 12.330}, {4, 10.164}, {8, 9.076}};
  for (const auto& [splits, seconds] : published) {
    const auto schedule = make_pipeline(*pipeline_family_named("gpipe"), {2, splits, 1});
    ASSERT_TRUE(schedule.ok());
    const Time part = of_ms(published.front().second * 1000 / 2 / 3 / splits);
    const auto timing = time_pipeline(*schedule, {{{part, part, part}}, {}});
    ASSERT_TRUE(timing.ok());
    EXPECT_NEAR(timing->end.seconds() / seconds, 1, 0.025) << splits;
  }
}

}  // namespace
}  // namespace pdsim
