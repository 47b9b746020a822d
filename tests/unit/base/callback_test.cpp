// Callbacks hold what they call once, whether it fits inside or not.
#include "core/base/callback.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace pdsim {
namespace {

TEST(Callback, CallsWhatFitsInsideAndWhatDoesNot) {
  int sum = 0;
  const std::array<int, 100> many{1, 2, 3};
  const Callback<int> small([&sum](int x) { sum += x; });
  const Callback<int> large([&sum, many](int x) { sum += x * many[2]; });
  small(1);
  large(2);
  EXPECT_EQ(sum, 7);
}

TEST(Callback, EndsWhatItHoldsExactlyOnce) {
  for (const bool large : {false, true}) {
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = held;
    std::array<char, 64> weight{};
    Callback<> first;
    if (large)
      first = [held, weight] { *held += weight[0] + 1; };
    else
      first = [held] { ++*held; };
    held.reset();
    Callback<> second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: empty is what it must be
    EXPECT_TRUE(second);
    second();
    EXPECT_EQ(*watched.lock(), 1);
    EXPECT_EQ(watched.use_count(), 1);
    second = nullptr;
    EXPECT_TRUE(watched.expired());
  }
}

TEST(Callback, HandsItsArgumentsOn) {
  std::string got;
  const Callback<std::string, int> callback(
      [&got](std::string text, int n) { got = std::move(text) + std::to_string(n); });
  callback("a text that is too long for a short string ", 3);
  EXPECT_EQ(got, "a text that is too long for a short string 3");
}

TEST(Callback, CopiesWhatItHolds) {
  const std::array<int, 100> many{1, 2, 3};
  int sum = 0;
  Callback<> small([n = 1, &sum]() mutable { sum += n++; });
  Callback<> large([n = 1, many, &sum]() mutable { sum += n++ + many[0] - 1; });
  for (Callback<>* callback : {&small, &large}) {
    sum = 0;
    (*callback)();
    const Callback<> copy = *callback;
    (*callback)();
    copy();
    EXPECT_EQ(sum, 1 + 2 + 2);
    *callback = nullptr;
    copy();
    EXPECT_EQ(sum, 1 + 2 + 2 + 3);
    const Callback<> of_empty = *callback;
    EXPECT_FALSE(of_empty);
  }
}

}  // namespace
}  // namespace pdsim
