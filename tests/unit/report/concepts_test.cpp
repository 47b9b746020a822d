// The concepts that `pdsim explain` answers questions about: every row points to what is there, and its picture can be made.

#include "core/base/errors.h"
#include "core/collectives/algorithms.h"
#include "core/pipeline/families.h"
#include "scenarios/concepts/concept_picture.h"
#include "scenarios/concepts/concepts.h"
#include "scenarios/diagnosis/diagnoses.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::string catalog_file(std::string_view name) {
  return fmt::format("{}/scenarios/catalog/{}.yaml", PDSIM_SOURCE_DIR, name);
}

std::string asked(std::string_view question) {
  const Concept* row = concept_asked_for(question);
  return row == nullptr ? "" : std::string(row->name);
}

bool is_concept(std::string_view name) {
  const auto all = concepts();
  return std::any_of(all.begin(), all.end(), [&](const Concept* row) { return row->name == name; });
}

TEST(Concepts, AreFoundByTheWordsOfAQuestion) {
  EXPECT_EQ(asked("what is a bucket?"), "bucket");
  EXPECT_EQ(asked("What are buckets"), "bucket");
  EXPECT_EQ(asked("how does DDP work?"), "ddp");
  EXPECT_EQ(asked("what does all-reduce do?"), "all_reduce");
  EXPECT_EQ(asked("AllReduce"), "all_reduce");
  EXPECT_EQ(asked("explain the process group"), "process_group");
  EXPECT_EQ(asked("what is a flight recorder"), "flight_recorder");
  EXPECT_EQ(asked("what is a straggler"), "slow_rank");
  EXPECT_EQ(asked("tensors"), "");
  EXPECT_EQ(asked("what is"), "");
  EXPECT_EQ(asked("?"), "");
  EXPECT_EQ(asked(""), "");
  EXPECT_EQ(asked("all_reduce timed out"), "");
}

TEST(Concepts, NearAQuestionThatNoneAnswersAreNamed) {
  EXPECT_TRUE(is_question("what is foo"));
  EXPECT_TRUE(is_question("is it a bukcet?"));
  EXPECT_FALSE(is_question("bukcet?"));
  EXPECT_FALSE(is_question("Connection closed by peer"));
  EXPECT_EQ(asked("what is a bukcet?"), "");
  EXPECT_EQ(concepts_near("what is a bukcet?", 1), (std::vector<std::string_view>{"bucket"}));
  EXPECT_EQ(concepts_near("what is a monitored barier", 1), (std::vector<std::string_view>{"monitored_barrier"}));
  EXPECT_EQ(concepts_near("what is foo", 3).size(), 3U);
}

TEST(Concepts, NameWhatExists) {
  for (const Concept* row : concepts()) {
    for (const std::string_view id : row->wrong)
      EXPECT_TRUE(id.empty() || diagnosis_named(id) != nullptr) << row->name << ": diagnosis " << id;
    for (const std::string_view file : row->files)
      EXPECT_TRUE(file.empty() || std::filesystem::exists(catalog_file(file))) << row->name << ": file " << file;
    for (const std::string_view other : row->see)
      EXPECT_TRUE(other.empty() || is_concept(other)) << row->name << ": concept " << other;
  }
}

TEST(Concepts, ShareNoSpelling) {
  for (const Concept* row : concepts()) {
    std::vector<std::string_view> spellings(row->aliases.begin(), row->aliases.end());
    spellings.push_back(row->name);
    for (const std::string_view word : spellings) EXPECT_TRUE(word.empty() || concept_asked_for(word) == row) << word;
  }
}

// Or `pdsim explain NAME`, to which the pages point, would print that instead.
TEST(Concepts, AreCalledAsNothingElseIs) {
  for (const Concept* row : concepts()) {
    EXPECT_EQ(diagnosis_named(row->name), nullptr) << row->name;
    EXPECT_FALSE(code_named(row->name).has_value()) << row->name;
    EXPECT_EQ(pipeline_family_named(row->name), nullptr) << row->name;
    for (const Algorithm& algorithm : algorithms()) EXPECT_NE(algorithm.name, row->name);
  }
}

TEST(Concepts, AreExplainedInAtMostSixLines) {
  for (const Concept* row : concepts()) {
    const std::string page = concept_page(*row, "");
    const std::string text = page.substr(0, page.find("\n\n", row->name.size() + 2) + 1);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8) << page;  // with the name and an empty line
  }
}

TEST(Concepts, HavePicturesThatCanBeMade) {
  for (const Concept* row : concepts()) {
    const Result<std::string> picture = draw_concept(row->picture, catalog_file(row->picture.name));
    ASSERT_TRUE(picture.ok()) << row->name << ": " << picture.error().message;
    EXPECT_EQ(picture->empty(), row->picture.kind == ConceptPicture::Kind::none) << row->name;
  }
}

TEST(ConceptPicture, ShowsWhatEachRankHoldsBeforeAndAfterTheCall) {
  EXPECT_EQ(*draw_values(CollectiveKind::reduce_scatter),
            "reduce_scatter with op sum, 4 ranks, run with small whole numbers (- : nothing passed or received)\n"
            "          before       after\n"
            "  rank 0  0 1 2 3      60\n"
            "  rank 1  10 11 12 13  64\n"
            "  rank 2  20 21 22 23  68\n"
            "  rank 3  30 31 32 33  72\n");
  EXPECT_EQ(*draw_values(CollectiveKind::scatter),
            "scatter from src 1, 4 ranks, run with small whole numbers (- : nothing passed or received)\n"
            "          before       after\n"
            "  rank 0  -            10\n"
            "  rank 1  10 11 12 13  11\n"
            "  rank 2  -            12\n"
            "  rank 3  -            13\n");
}

TEST(ConceptPicture, OfAMissingFileIsAnError) {
  EXPECT_FALSE(draw_concept(run_of("nowhere", "broken"), catalog_file("nowhere")).ok());
  EXPECT_FALSE(draw_concept(run_of("unused_params", "nowhere"), catalog_file("unused_params")).ok());
}

}  // namespace
}  // namespace pdsim::scenarios
