// The text and the SVG of a schedule.

#include "core/pipeline/picture.h"

#include "core/pipeline/families.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

using namespace literals;

struct Timed {
  PipelineSchedule schedule;
  PipelineTiming timing;
};

Timed timed(std::string_view family, const PipelineShape& shape) {
  const auto schedule = make_pipeline(*pipeline_family_named(family), shape);
  const auto timing = time_pipeline(*schedule, {{{1_ms, 1_ms, 1_ms}}, {}});
  return {*schedule, *timing};
}

TEST(PipelinePicture, StandsWhereActionsRunAsWideAsTheyAreLong) {
  const Timed one = timed("1f1b", {2, 3, 1});
  EXPECT_EQ(draw_pipeline(one.schedule, one.timing),
            "rank 0  F0 F1 .  .  B0--- F2 B1--- .  B2---\n"
            "rank 1  .  F0 B0--- F1 B1--- F2 B2---\n");
  const Timed split = timed("zb_h1", {2, 2, 1});
  EXPECT_EQ(draw_pipeline(split.schedule, split.timing),
            "rank 0  F0 F1 .  I0 W0 I1 W1\n"
            "rank 1  .  F0 I0 F1 I1 W0 W1\n");
}

TEST(PipelinePicture, SaysWhatIsLeftOutOnTheRight) {
  const Timed one = timed("1f1b", {2, 3, 1});
  EXPECT_EQ(draw_pipeline(one.schedule, one.timing, 20),
            "rank 0  F0 F1 .  .\n"
            "rank 1  .  F0 B0---\n"
            "the first 4ms of 12ms; --svg draws all of it\n");
}

TEST(PipelinePicture, AsSvgHasABoxForEachAction) {
  const Timed one = timed("interleaved_1f1b", {2, 4, 2});
  const std::string svg = draw_pipeline_svg(one.schedule, one.timing);
  std::size_t boxes = 0;
  for (std::size_t at = svg.find("<rect "); at != std::string::npos; at = svg.find("<rect ", at + 1)) ++boxes;
  EXPECT_EQ(boxes, 32U);
  EXPECT_NE(svg.find("forward of micro-batch 3 in stage 2"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace pdsim
