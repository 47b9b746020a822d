// The concepts that `pdsim explain` answers questions about: every row points to what is there, its picture can be made, and the words of a
// question find it.

#include "core/base/errors.h"
#include "core/collectives/algorithms.h"
#include "core/pipeline/families.h"
#include "scenarios/concepts/concept_picture.h"
#include "scenarios/concepts/concepts.h"
#include "scenarios/concepts/word_search.h"
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

std::string best(std::string_view question) {
  const auto found = concepts_by_words(question);
  return found.empty() ? "" : std::string(found.front()->name);
}

TEST(Concepts, AreFoundByTheWordsThatAQuestionSharesWithThem) {
  EXPECT_EQ(best("why does my training hang at the end of the epoch"), "join");
  EXPECT_EQ(best("how do I find out which rank is stuck"), "hang");
  EXPECT_EQ(best("how do i change the nccl timeout"), "timeouts");
  EXPECT_EQ(best("diference between all_gather and all_gather_into_tensor"), "all_gather");
  EXPECT_EQ(best("what is gradient bucketing"), "bucket");
  EXPECT_EQ(best("new_group hangs"), "new_group");
  EXPECT_EQ(best("file store vs tcp store"), "store");
  EXPECT_EQ(best("why are my replicas different"), "silent_error");
  EXPECT_EQ(best("saving a checkpoint only on rank 0 hangs"), "checkpoint");
  EXPECT_EQ(best("torch.cuda.synchronize vs wait"), "stream");
  EXPECT_EQ(best("what happens if one rank crashes"), "crash");
  EXPECT_EQ(best("how to average a metric over ranks"), "all_reduce");
  EXPECT_EQ(best("is it a bukcet?"), "bucket");
  EXPECT_EQ(best("brodcast"), "broadcast");
  EXPECT_EQ(best("what is a xylophone?"), "");
  EXPECT_EQ(best("hello world"), "");
  EXPECT_EQ(best("what is a tensor?"), "");
  EXPECT_EQ(best("what is a collective?"), "collective");
  EXPECT_EQ(best("what is the difference between these two?"), "");
  EXPECT_EQ(best(""), "");
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

const std::vector<SearchedText> searched_shelf{
    {{"all_reduce", "allreduce"}, "Every rank ends with the sum of the tensors of all ranks"},
    {{"reduce"}, "One rank ends with the sum of the tensors"},
    {{"timeouts"}, "How long a call of a rank may wait"},
};

TEST(WordSearch, FindsANameWrittenTogetherApartOrWithAnEnding) {
  for (const char* const question : {"all_reduce hangs", "my allreduce", "All-Reduce?", "two all reduces"}) {
    const auto found = search_words(question, searched_shelf);
    ASSERT_FALSE(found.empty()) << question;
    EXPECT_EQ(found.front().index, 0U) << question;
    EXPECT_TRUE(found.front().is_named) << question;
  }
}

TEST(WordSearch, CountsARareWordMoreThanACommonOne) {
  const auto found = search_words("rank timeout", searched_shelf);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().index, 2U);
}

TEST(WordSearch, TakesAWordSpelledWronglyForTheNearestOne) {
  EXPECT_EQ(search_words("timeuots", searched_shelf).front().index, 2U);
  EXPECT_TRUE(search_words("xylophone", searched_shelf).empty());
}

TEST(WordSearch, SaysWhatShareOfTheQuestionATextHas) {
  EXPECT_DOUBLE_EQ(search_words("sum tensors", searched_shelf).front().share, 1.0);
  EXPECT_LT(search_words("sum xylophone", searched_shelf).front().share, 0.6);
}

TEST(WordSearch, FindsNothingInCommonWordsOrInNothing) {
  EXPECT_TRUE(search_words("what is the difference between these two?", searched_shelf).empty());
  EXPECT_TRUE(search_words("", searched_shelf).empty());
  EXPECT_TRUE(search_words("reduce", {}).empty());
}

}  // namespace
}  // namespace pdsim::scenarios
