#include "scenarios/diagnosis/analysis/call_alignment.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

// The two texts with a dash where the other has a letter that this one has not: "ab-d/abcd".
std::string aligned(const std::string& a, const std::string& b) {
  std::string left, right;
  for (const Aligned& step :
       align_calls(a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j] ? 0 : CallAlignment::never; })) {
    left += step.a == Aligned::none ? '-' : a[step.a];
    right += step.b == Aligned::none ? '-' : b[step.b];
  }
  return left + "/" + right;
}

TEST(CallAlignment, FindsWhatOneSideLeavesOut) {
  EXPECT_EQ(aligned("abd", "abcd"), "ab-d/abcd");
  EXPECT_EQ(aligned("abcd", "abd"), "abcd/ab-d");
}

TEST(CallAlignment, FindsBlocksAtEitherEnd) {
  EXPECT_EQ(aligned("", "abc"), "---/abc");
  EXPECT_EQ(aligned("abc", ""), "abc/---");
  EXPECT_EQ(aligned("xyabc", "abc"), "xyabc/--abc");
}

TEST(CallAlignment, PairsWhatMayBeOneCallAtACost) {
  const auto cost = [](std::size_t, std::size_t) { return 3; };
  EXPECT_EQ(align_calls(1, 1, cost), (std::vector<Aligned>{{0, 0}}));
  const auto dear = [](std::size_t, std::size_t) { return 2 * CallAlignment::alone + 1; };
  EXPECT_EQ(align_calls(1, 1, dear).size(), 2U);
}

TEST(CallAlignment, GoesOnInWindowsWhereTheSequencesAreLong) {
  std::string a, b;
  for (int i = 0; i < 4000; ++i) {
    a += static_cast<char>('a' + i % 7);
    if (i % 900 != 450) b += static_cast<char>('a' + i % 7);
  }
  const std::string both = aligned(a, b);
  std::size_t left_out = 0;
  for (const char c : both) left_out += c == '-' ? 1 : 0;
  EXPECT_EQ(left_out, 4U);
}

}  // namespace
}  // namespace pdsim::scenarios
