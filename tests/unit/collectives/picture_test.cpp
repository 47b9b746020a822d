// Pictures of plans, and the page of docs that is made from the table.
#include "core/collectives/proof/algorithms_page.h"
#include "core/collectives/proof/plan_checker.h"
#include "core/collectives/proof/plan_picture.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace pdsim {
namespace {

const Algorithm& named(CollectiveKind kind, std::string_view name) { return *find_algorithm(kind, name).value(); }

std::string file(const std::string& path) {
  std::ifstream in(std::string(PDSIM_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(PlanPicture, HasAColumnForEachOfUpToEightRanks) {
  EXPECT_EQ(draw_rounds(named(CollectiveKind::all_reduce, "ring"), {3, 6}),
            "round  rank 0       rank 1       rank 2\n"
            "    1  0..1 -> 1 +  2..3 -> 2 +  4..5 -> 0 +\n"
            "    2  4..5 -> 1 +  0..1 -> 2 +  2..3 -> 0 +\n"
            "    3  2..3 -> 1    4..5 -> 2    0..1 -> 0\n"
            "    4  0..1 -> 1    2..3 -> 2    4..5 -> 0\n");
}

TEST(PlanPicture, ListsTheMessagesOfMoreRanks) {
  EXPECT_EQ(draw_rounds(named(CollectiveKind::broadcast, "binomial"), {9, 1, 2}),
            "round\n"
            "    1  2->1\n"
            "    2  2->6\n"
            "    3  2->4 6->8\n"
            "    4  2->3 4->5 6->7 8->0\n");
}

TEST(PlanPicture, OfOneRankHasNoMessage) {
  EXPECT_EQ(draw_rounds(named(CollectiveKind::all_reduce, "ring"), {1, 6}), "no message\n");
}

TEST(PlanPicture, TellsWhatItLeavesOut) {
  const std::string text = draw_rounds(named(CollectiveKind::all_reduce, "ring"), {64, 64});
  EXPECT_NE(text.find("and 7616 messages in later rounds"), std::string::npos) << text.substr(text.size() - 100);
  const std::string svg = draw_plan_svg(named(CollectiveKind::all_reduce, "ring"), {64, 64});
  EXPECT_NE(svg.find("the first 4000 of 8064 messages"), std::string::npos);
}

TEST(PlanPicture, OfARoundWithTooManyMessagesTellsHowManyAreLeftOut) {
  const std::string text = draw_rounds(named(CollectiveKind::all_to_all, "pairwise"), {500, 1});
  EXPECT_NE(text.find("and 100 more messages in this round\n       and 249000 messages in later rounds"),
            std::string::npos)
      << text.substr(text.size() - 200);
}

TEST(PlanPicture, CountsWhatTheCheckerCounts) {
  for (const Algorithm& a : algorithms()) {
    if (row(a.kind).point_to_point) continue;
    const PlanCase at{6, a.kind == CollectiveKind::barrier ? 0 : 7};
    const PlanCost counted = trace_plan(a, at).counted, checked = check_plan(a, at, a.plan).counted;
    EXPECT_EQ(counted.rounds, checked.rounds) << name_of(a.kind) << " " << a.name;
    EXPECT_EQ(counted.messages, checked.messages) << name_of(a.kind) << " " << a.name;
    EXPECT_EQ(counted.elements_sent, checked.elements_sent) << name_of(a.kind) << " " << a.name;
  }
}

TEST(PlanPicture, HasAnArrowForEachMessageAndALineForEachRank) {
  for (const Algorithm& a : algorithms()) {
    if (row(a.kind).point_to_point) continue;
    const PlanCase at{5, a.kind == CollectiveKind::barrier ? 0 : 7};
    const std::string svg = draw_plan_svg(a, at);
    std::size_t arrows = 0, lines = 0;
    for (std::size_t i = svg.find("marker-end"); i != std::string::npos; i = svg.find("marker-end", i + 1)) ++arrows;
    for (std::size_t i = svg.find("class=\"rank\""); i != std::string::npos; i = svg.find("class=\"rank\"", i + 1))
      ++lines;
    EXPECT_EQ(static_cast<std::int64_t>(arrows), a.cost(5, at.count).messages) << name_of(a.kind) << " " << a.name;
    EXPECT_EQ(lines, 5U);
    EXPECT_EQ(svg.find('&'), std::string::npos);
  }
}

// NCCL's trees over eight ranks in the docs, and the others.
TEST(AlgorithmsPage, HasThePicturesOfTheTable) {
  const PlanCase four{4, 1024}, eight{8, 1024}, nodes{8, 1024, 0, 4};
  EXPECT_TRUE(file("docs/pictures/ring.svg") == draw_plan_svg(named(CollectiveKind::all_reduce, "ring"), four))
      << "run: pdsim explain ring --svg docs/pictures/ring.svg";
  EXPECT_TRUE(file("docs/pictures/double_tree.svg") ==
              draw_plan_svg(named(CollectiveKind::all_reduce, "double_tree"), eight))
      << "run: pdsim explain double_tree --ranks 8 --svg docs/pictures/double_tree.svg";
  EXPECT_TRUE(file("docs/pictures/two_level.svg") ==
              draw_plan_svg(named(CollectiveKind::all_reduce, "two_level"), nodes))
      << "run: pdsim explain two_level --ranks 8 --nodes 2 --svg docs/pictures/two_level.svg";
}

TEST(AlgorithmsPage, EndsWithTheTable) {
  const std::string page = file("docs/algorithms.md"), marker = "<!-- from here on: pdsim explain algorithms -->\n\n";
  const std::size_t from = page.find(marker);
  ASSERT_NE(from, std::string::npos);
  EXPECT_TRUE(page.substr(from + marker.size()) == algorithms_page())
      << "put what `pdsim explain algorithms` prints below the marker of docs/algorithms.md";
}

TEST(AlgorithmsPage, ShowsTheProgramThatTheConsumerTestRuns) {
  const std::string program = file("tests/consumer/own_algorithm.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(file("docs/algorithms.md").find("```cpp\n" + program + "```\n"), std::string::npos);
}

}  // namespace
}  // namespace pdsim
