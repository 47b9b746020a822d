#include "core/collectives/reduce.h"

#include "core/collectives/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace pdsim {
namespace {

template <class T>
T combined(T a, T b, DType dtype, ReduceOp op) {
  reduce({reinterpret_cast<std::byte*>(&a), dtype, 1}, {reinterpret_cast<const std::byte*>(&b), dtype, 1}, op);
  return a;
}

TEST(Half, EveryBf16AndF16PatternSurvivesTheRoundTrip) {
  for (std::uint32_t i = 0; i <= 0xffff; ++i) {
    const auto h = static_cast<std::uint16_t>(i);
    if (!std::isnan(from_bf16(h))) {
      EXPECT_EQ(to_bf16(from_bf16(h)), h);
    }
    if (std::isnan(from_f16(h))) {
      EXPECT_TRUE(std::isnan(from_f16(to_f16(from_f16(h)))));
    } else {
      EXPECT_EQ(to_f16(from_f16(h)), h);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(from_f16(to_f16(1.0F + 0x1.0p-11F)), 1.0F);
  EXPECT_EQ(from_f16(to_f16(1.0F + 0x1.8p-10F)), 1.0F + 0x1.0p-9F);
  EXPECT_EQ(to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(to_f16(0x1.0p-25F), 0);
  EXPECT_EQ(to_f16(0x1.8p-25F), 1);
}

TEST(Reduce, IntegersWrapAndBoolsAreLogical) {
  EXPECT_EQ(combined<std::int8_t>(100, 100, DType::i8, ReduceOp::sum), static_cast<std::int8_t>(-56));
  EXPECT_EQ(combined<std::int32_t>(1 << 30, 4, DType::i32, ReduceOp::product), 0);
  EXPECT_EQ(combined<std::uint8_t>(1, 1, DType::boolean, ReduceOp::sum), 1);
  EXPECT_EQ(combined<std::uint8_t>(1, 0, DType::boolean, ReduceOp::product), 0);
  EXPECT_EQ(combined<std::uint8_t>(6, 3, DType::u8, ReduceOp::bxor), 5);
}

TEST(Reduce, NaNWinsInMinAndMaxFromEitherSide) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(combined(nan, 1.0F, DType::f32, ReduceOp::min)));
  EXPECT_TRUE(std::isnan(combined(1.0F, nan, DType::f32, ReduceOp::max)));
}

TEST(Divide, IsExactForIntegersWhoseReciprocalIsNot) {
  for (std::int64_t n = 1; n <= 200; ++n) {
    std::int64_t data[] = {n, 3 * n - 1, -n};
    divide({reinterpret_cast<std::byte*>(data), DType::i64, 3}, n);
    EXPECT_EQ(data[0], 1) << n;
    EXPECT_EQ(data[1], 2) << n;
    EXPECT_EQ(data[2], -1) << n;
  }
  std::int64_t large = (std::int64_t{1} << 53) + 1;
  divide({reinterpret_cast<std::byte*>(&large), DType::i64, 1}, 1);
  EXPECT_EQ(large, (std::int64_t{1} << 53) + 1);
}

TEST(Supports, BitwiseOnlyForIntegersAndPremulSumOnlyForFloats) {
  EXPECT_FALSE(supports(ReduceOp::band, DType::f32));
  EXPECT_TRUE(supports(ReduceOp::band, DType::boolean));
  EXPECT_FALSE(supports(ReduceOp::premul_sum, DType::i32));
  EXPECT_FALSE(supports(ReduceOp::avg, DType::boolean));
}

}  // namespace
}  // namespace pdsim
