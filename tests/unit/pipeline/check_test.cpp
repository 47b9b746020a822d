// What is found wrong with schedules, and which ways of sending them can deadlock.

#include "core/pipeline/check.h"

#include "core/pipeline/families.h"
#include "core/pipeline/program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

PipelineSchedule read(std::string_view csv) {
  auto schedule = pipeline_from_csv(csv, "own");
  EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.error().message);
  return schedule.ok() ? *schedule : PipelineSchedule{};
}

std::vector<std::string> sentences(std::string_view csv) {
  std::vector<std::string> all;
  for (const PipelineProblem& problem : check_pipeline(read(csv)).problems) all.push_back(to_string(problem));
  return all;
}

using Sentences = std::vector<std::string>;

template <class Visit>
void for_each_published(Visit visit) {
  for (const PipelineFamily& family : pipeline_families())
    for (int p = 1; p <= 6; ++p)
      for (int v = 1; v <= (family.several_stages ? 3 : 1); ++v)
        for (const int m : {1, 2, 3, p, 2 * p, 3 * p}) {
          const auto schedule = make_pipeline(family, {p, m, v});
          if (!schedule.ok()) {
            EXPECT_TRUE(family.whole_rounds && m % p != 0) << family.name << " " << p << " " << m;
            continue;
          }
          visit(*schedule, std::string(family.name) + " p=" + std::to_string(p) + " v=" + std::to_string(v) +
                               " m=" + std::to_string(m));
        }
}

TEST(PipelineCheck, PassesEveryPublishedSchedule) {
  for_each_published([](const PipelineSchedule& schedule, const std::string& what) {
    const PipelineCheck check = check_pipeline(schedule);
    EXPECT_TRUE(check.ok()) << what << ": " << (check.ok() ? "" : to_string(check.problems.front()));
    EXPECT_EQ(read(to_csv(schedule)).order, schedule.order) << what;
  });
}

TEST(PipelineCheck, TellsWhatIsMissingDoubledOrElsewhere) {
  EXPECT_EQ(sentences("0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n"),
            Sentences{"0B1 (backward of micro-batch 1 in stage 0) is missing; its stage is on rank 0"});
  EXPECT_EQ(sentences("0F0,0F0,0B0\n"),
            Sentences{"action 2 of rank 0: 0F0 (forward of micro-batch 0 in stage 0) is there twice, first on rank 0"});
  EXPECT_EQ(sentences("0F0,0F1,0B0\n1F0,1B0,1F1,1B1,0B1\n"),
            Sentences{"action 5 of rank 1: 0B1 (backward of micro-batch 1 in stage 0), but its stage is on rank 0"});
  EXPECT_EQ(sentences("0F0,0I0\n"),
            Sentences{"0W0 (backward for the weights of micro-batch 0 in stage 0) is missing; its stage is on rank 0"});
  EXPECT_EQ(sentences("0F0,0B0,0W0\n"),
            Sentences{"rank 0 has the backward of micro-batch 0 in stage 0 both whole (B) and in parts (I, W)"});
}

TEST(PipelineCheck, TellsWhoWaitsForWhomInAnOrderThatCannotRun) {
  EXPECT_EQ(
      sentences("0B0,0F0\n"),
      Sentences{"rank 0 cannot start its action 1, 0B0 (backward of micro-batch 0 in stage 0), which needs 0F0; that "
                "comes later on the same rank"});
  EXPECT_EQ(sentences("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"),
            (Sentences{"rank 0 cannot start its action 2, 0B0 (backward of micro-batch 0 in stage 0): it waits for 1B0 "
                       "of rank 1",
                       "rank 1 cannot start its action 2, 1F1 (forward of micro-batch 1 in stage 1): it waits for 0F1 "
                       "of rank 0"}));
}

TEST(PipelineCheck, CountsTheActivationsThatAreKept) {
  const auto kept = [](std::string_view family, int ranks, int microbatches) {
    return check_pipeline(*make_pipeline(*pipeline_family_named(family), {ranks, microbatches, 1})).kept_by_rank;
  };
  EXPECT_EQ(kept("gpipe", 4, 8), (std::vector<int>{8, 8, 8, 8}));
  EXPECT_EQ(kept("1f1b", 4, 8), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(kept("zb_h1", 4, 8), (std::vector<int>{4, 4, 4, 4}));
  EXPECT_EQ(kept("zb_h2", 4, 8), (std::vector<int>{7, 7, 7, 7}));
}

TEST(PipelineSends, PostedInOneOrderForAllRanksNeverDeadlock) {
  for_each_published([](const PipelineSchedule& schedule, const std::string& what) {
    const PipelineProgram program = lower_pipeline(schedule, PipelineSends::isend);
    for (const auto buffering :
         {PipelineBuffering::unbounded, PipelineBuffering::none, PipelineBuffering::pair_streams}) {
      const auto stuck = find_stuck(program, buffering);
      EXPECT_TRUE(stuck.empty()) << what << ", " << name_of(buffering) << ": "
                                 << (stuck.empty() ? "" : to_string(stuck.front()));
    }
  });
}

TEST(PipelineSends, NeverDeadlockWithBuffersWithoutBound) {
  for_each_published([](const PipelineSchedule& schedule, const std::string& what) {
    for (const auto sends : {PipelineSends::batch, PipelineSends::send})
      EXPECT_TRUE(find_stuck(lower_pipeline(schedule, sends), PipelineBuffering::unbounded).empty()) << what;
  });
}

TEST(PipelineSends, ThatWaitForTheirReceiveDeadlock1F1BAsBothNeighboursSend) {
  const auto schedule = make_pipeline(*pipeline_family_named("1f1b"), {2, 4, 1});
  const auto stuck = find_stuck(lower_pipeline(*schedule, PipelineSends::send), PipelineBuffering::none);
  ASSERT_EQ(stuck.size(), 2U);
  EXPECT_EQ(to_string(stuck[0]), "rank 0 waits in the send of the activation of 0F1 to rank 1");
  EXPECT_EQ(to_string(stuck[1]), "rank 1 waits in the send of the gradient of 1B0 to rank 0");
  EXPECT_EQ(circle_of(stuck).size(), 2U);
  EXPECT_TRUE(find_stuck(lower_pipeline(*schedule, PipelineSends::batch), PipelineBuffering::none).empty());
  EXPECT_TRUE(find_stuck(lower_pipeline(*schedule, PipelineSends::batch), PipelineBuffering::pair_streams).empty());
}

TEST(PipelineCsv, PointsAtTheCellThatIsNotAnAction) {
  const auto problem = [](std::string_view csv) {
    const auto schedule = pipeline_from_csv(csv, "own");
    if (schedule.ok()) return std::string("ok");
    const Error& error = schedule.error();
    return std::string(fact(error.facts, "line")) + ":" + std::string(fact(error.facts, "column")) + " " +
           error.message;
  };
  EXPECT_EQ(problem("0F0,0B0\n1F0,1X0\n"),
            "2:5 `1X0` is not an action: write the stage, one of F, B, I and W, and the micro-batch, for example 1F0");
  EXPECT_EQ(problem("0F0,0SEND_F0\n"),
            "1:5 `0SEND_F0`: give the compute actions alone; the messages between ranks follow from them");
  EXPECT_EQ(problem(""), "1:1 no action: write one line a rank, for example 0F0,0F1,0B0,0B1");
  EXPECT_EQ(
      problem("999999F999999\n"),
      "1:1 1000000 stages of 1000000 micro-batches (by the highest numbers found) are more than 1000000 forwards");
  EXPECT_EQ(problem(" 0F0 ,, \"0B0\"\r\n"), "ok");
}

}  // namespace
}  // namespace pdsim
