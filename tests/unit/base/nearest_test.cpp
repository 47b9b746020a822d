#include "core/base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace pdsim {
namespace {

TEST(EditDistance, CountsEachKindOfMistypingOnce) {
  EXPECT_EQ(edit_distance("bandwidth", "bandwidth"), 0);
  EXPECT_EQ(edit_distance("bandwith", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("bandwwidth", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("bandwodth", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("badnwidth", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
}

TEST(Nearest, OffersTheClosestNameAndNothingWhenAllAreFar) {
  constexpr std::array<std::string_view, 3> names{"latency", "bandwidth", "jitter"};
  EXPECT_EQ(nearest("bandwith", names), "bandwidth");
  EXPECT_EQ(nearest("laatncy", names), "latency");
  EXPECT_EQ(nearest("colour", names), std::nullopt);
  EXPECT_EQ(nearest("jitter", std::span<const std::string_view>{}), std::nullopt);
}

TEST(Nearest, TakesTheFirstOfEquallyCloseNames) {
  constexpr std::array<std::string_view, 2> names{"rank", "bank"};
  EXPECT_EQ(nearest("tank", names), "rank");
}

}  // namespace
}  // namespace pdsim
