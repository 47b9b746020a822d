#include "core/collectives/reduce.h"

#include "core/collectives/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
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

// Every pattern of a half against some of the other side: zeros of both signs, denormals, largest, infinities, NaNs.
class BothKernels : public ::testing::TestWithParam<DType> {
 protected:
  static bool is_nan(std::uint16_t h) { return std::isnan(GetParam() == DType::f16 ? from_f16(h) : from_bf16(h)); }
};

TEST_P(BothKernels, GiveTheSameBitsForEveryHalf) {
  constexpr std::uint32_t patterns = 1 << 16;
  for (std::uint32_t other = 0; other < patterns; other += 0x3ff) {
    std::vector<std::uint16_t> left(patterns), right(patterns, static_cast<std::uint16_t>(other));
    for (std::uint32_t i = 0; i < patterns; ++i) left[i] = static_cast<std::uint16_t>(i);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
      auto plain = left, wide = left;
      const ConstView in{reinterpret_cast<const std::byte*>(right.data()), GetParam(), patterns};
      reduce({reinterpret_cast<std::byte*>(plain.data()), GetParam(), patterns}, in, op, Processor::any);
      reduce({reinterpret_cast<std::byte*>(wide.data()), GetParam(), patterns}, in, op, this_processor());
      for (std::uint32_t i = 0; i < patterns; ++i) {
        const bool either = is_nan(left[i]) && is_nan(right[i]) && is_nan(plain[i]) && is_nan(wide[i]);
        ASSERT_TRUE(plain[i] == wide[i] || either) << name_of(op) << " of " << i << " and " << other;
      }
    }
  }
}

TEST_P(BothKernels, ScaleToTheSameBits) {
  constexpr std::uint32_t patterns = 1 << 16;
  std::vector<std::uint16_t> from(patterns), plain(patterns), wide(patterns);
  for (std::uint32_t i = 0; i < patterns; ++i) from[i] = static_cast<std::uint16_t>(i);
  const auto scale_half = GetParam() == DType::f16 ? scale_f16 : scale_bf16;
  for (const float factor : {1.0F / 3.0F, -0.0F, 1e-30F, 65504.0F}) {
    scale_half(Processor::any, plain.data(), from.data(), patterns, factor);
    scale_half(this_processor(), wide.data(), from.data(), patterns, factor);
    EXPECT_EQ(plain, wide) << factor;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, BothKernels, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& given) { return std::string(name_of(given.param)); });

// Odd values, and of every size up to more than two vectors, so that what is left of whole vectors is reached too.
template <class T>
void expect_the_same_bits(DType dtype) {
  const T special[] = {T{0},
                       -T{0},
                       T{1},
                       T{-3} / T{7},
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN()};
  for (std::size_t n = 0; n <= 40; ++n)
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max})
      for (std::size_t shift = 0; shift < std::size(special); ++shift) {
        std::vector<T> plain(n), right(n);
        for (std::size_t i = 0; i < n; ++i) plain[i] = special[i % std::size(special)];
        for (std::size_t i = 0; i < n; ++i) right[i] = special[(i + shift) % std::size(special)];
        auto wide = plain;
        const auto count = static_cast<std::int64_t>(n);
        const ConstView in{reinterpret_cast<const std::byte*>(right.data()), dtype, count};
        reduce({reinterpret_cast<std::byte*>(plain.data()), dtype, count}, in, op, Processor::any);
        reduce({reinterpret_cast<std::byte*>(wide.data()), dtype, count}, in, op, this_processor());
        ASSERT_EQ(n == 0 ? 0 : std::memcmp(plain.data(), wide.data(), n * sizeof(T)), 0) << name_of(op) << " " << n;
      }
}

TEST(Kernels, GiveTheSameBitsForFloatsAndDoubles) {
  expect_the_same_bits<float>(DType::f32);
  expect_the_same_bits<double>(DType::f64);
}

TEST(Reduce, OfEqualZerosTheLeftStays) {
  EXPECT_TRUE(std::signbit(combined(-0.0F, 0.0F, DType::f32, ReduceOp::max)));
  EXPECT_FALSE(std::signbit(combined(0.0F, -0.0F, DType::f32, ReduceOp::min)));
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
