// Integer sets of selectors: what may be written, and what it selects.
#include "core/base/int_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

std::vector<std::int64_t> first_six(const IntSet& set) {
  std::vector<std::int64_t> values;
  for (std::int64_t n = 0; n < 6; ++n)
    if (set.contains(n)) values.push_back(n);
  return values;
}

TEST(IntSet, SelectsWhatItIsWrittenAs) {
  using Values = std::vector<std::int64_t>;
  const std::vector<std::pair<std::string, Values>> cases{
      {"3", {3}},          {"1..3", {1, 2, 3}}, {"2..", {2, 3, 4, 5}},       {"..3", {0, 1, 2, 3}},
      {"even", {0, 2, 4}}, {"odd", {1, 3, 5}},  {"all", {0, 1, 2, 3, 4, 5}}, {"not 0", {1, 2, 3, 4, 5}},
  };
  for (const auto& [text, values] : cases) {
    const Result<IntSet> set = IntSet::parse(text);
    ASSERT_TRUE(set.ok()) << text;
    EXPECT_EQ(first_six(*set), values) << text;
    EXPECT_EQ(set->text(), text);
  }
}

TEST(IntSet, TakesNothingElse) {
  for (const char* text : {"", "-1", "03", "1...3", "3..1", "1 .. 3", "not", "not even", "any", "1,2", "1e3", "..",
                           "99999999999999999999", "Even", " 3"}) {
    const Result<IntSet> set = IntSet::parse(text);
    EXPECT_FALSE(set.ok()) << text;
  }
}

TEST(IntSet, NamesTheNumbersItWasWrittenWith) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(IntSet::parse("1..3")->named(), (Values{1, 3}));
  EXPECT_EQ(IntSet::parse("2..")->named(), (Values{2}));
  EXPECT_EQ(IntSet::parse("..3")->named(), (Values{3}));
  EXPECT_EQ(IntSet::parse("not 4")->named(), (Values{4}));
  EXPECT_EQ(IntSet::of({5, 1, 5}).named(), (Values{1, 5}));
  EXPECT_EQ(IntSet::all().named(), Values{});
}

}  // namespace
}  // namespace pdsim
