// A pipeline that cannot be: each error with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

TEST(PipelineError, WantsWholeRoundsOfMicrobatches) {
  EXPECT_EQ(instead_of_barrier("  - pipeline: {schedule: interleaved_1f1b, stages_per_rank: 2, microbatches: 3}\n"),
            R"(error[scenario]: 3 micro-batches do not make whole rounds of 2 ranks: interleaved_1f1b takes 2 or 4 of them
  --> mine.yaml:13:5
   |
13 |   - pipeline: {schedule: interleaved_1f1b, stages_per_rank: 2, microbatches: 3}
   |     ^^^^^^^^ change the pipeline, or the number of ranks
)");
}

TEST(PipelineError, PointsAtTheOrderThatLacksAnAction) {
  EXPECT_EQ(instead_of_barrier("  - pipeline: {order: \"0F0,0B0\\n1F0\"}\n"),
            R"(error[scenario]: 1B0 (backward of micro-batch 0 in stage 1) is missing; its stage is on rank 1
  --> mine.yaml:13:23
   |
13 |   - pipeline: {order: "0F0,0B0\n1F0"}
   |                       ^^^^^^^^^^^^^^ give a line for each rank, such as 0F0,0F1,0B0,0B1; see docs/pipelines.md
)");
}

TEST(PipelineError, PointsAtTheOrderThatHasAnActionTwice) {
  EXPECT_EQ(instead_of_barrier("  - pipeline: {order: \"0F0,0F0,0B0\\n1F0,1B0\"}\n"),
            R"(error[scenario]: action 2 of rank 0: 0F0 (forward of micro-batch 0 in stage 0) is there twice, first on rank 0
  --> mine.yaml:13:23
   |
13 |   - pipeline: {order: "0F0,0F0,0B0\n1F0,1B0"}
   |                       ^^^^^^^^^^^^^^^^^^^^^^ give a line for each rank, such as 0F0,0F1,0B0,0B1; see docs/pipelines.md
)");
}

TEST(PipelineError, TellsTheLineAndColumnInsideTheOrder) {
  EXPECT_EQ(instead_of_barrier("  - pipeline: {order: \"0F0,0B0\\n1F0,1Q0\"}\n"),
            R"(error[scenario]: line 2, column 5 of `order`: `1Q0` is not an action: write the stage, one of F, B, I and W, and the micro-batch, for example 1F0
  --> mine.yaml:13:23
   |
13 |   - pipeline: {order: "0F0,0B0\n1F0,1Q0"}
   |                       ^^^^^^^^^^^^^^^^^^ give a line for each rank, such as 0F0,0F1,0B0,0B1; see docs/pipelines.md
)");
}

TEST(PipelineError, WantsALineForEachRank) {
  EXPECT_EQ(instead_of_barrier("  - pipeline: {order: \"0F0,0B0\"}\n"),
            R"(error[scenario]: `order` has 1 lines, but the group has 2 ranks: write one line for each
  --> mine.yaml:13:23
   |
13 |   - pipeline: {order: "0F0,0B0"}
   |                       ^^^^^^^^^ give a line for each rank, such as 0F0,0F1,0B0,0B1; see docs/pipelines.md
)");
}

TEST(PipelineError, WantsNoScheduleBesideAnOrder) {
  EXPECT_NE(instead_of_barrier("  - pipeline: {order: \"0F0,0B0\\n1F0,1B0\", schedule: gpipe}\n")
                .find("`schedule` beside `order`"),
            std::string::npos);
}

}  // namespace
}  // namespace pdsim::scenarios
