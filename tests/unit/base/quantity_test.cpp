#include "core/base/quantity.h"


#include <gtest/gtest.h>

namespace pdsim {
namespace {
using namespace literals;

TEST(Quantity, ParsesExactDecimals) {
  EXPECT_EQ(parse_time("5us").value(), 5_us);
  EXPECT_EQ(parse_time("0.3us").value(), 300_ns);
  EXPECT_EQ(parse_time("30min").value(), 30_min);
  EXPECT_EQ(parse_bytes("25MiB").value(), 25_MiB);
  EXPECT_EQ(parse_rate("100Gbit/s").value().bytes_per_s, 12'500'000'000);
}

TEST(Quantity, RefusesWhatHasNoUnitASpaceALeadingZeroOrDoesNotFit) {
  for (const char* bad :
       {"5", "5 us", "us", "", "010us", "1e3us", "1_000us", "-5us", "99999999999999999999s", "5.us", ".5us"})
    EXPECT_FALSE(parse_time(bad).ok()) << bad;
}

TEST(Quantity, PrintsTheLargestUnitWithFourDigits) {
  EXPECT_EQ(to_string(5_us), "5us");
  EXPECT_EQ(to_string(Time{1'145'010'000}), "1.145ms");
  EXPECT_EQ(to_string(30_min), "30min");
  EXPECT_EQ(to_string(25_MiB), "25MiB");
  EXPECT_EQ(to_string(25_GB_per_s), "25GB/s");
}

TEST(Quantity, TransferTimeRoundsToThePicosecond) {
  EXPECT_EQ(transfer_time(64_MiB, 25_GB_per_s).ps, 2'684'354'560);
  EXPECT_EQ(transfer_time(64_MiB, Rate{}).ps, 0);
}

TEST(Quantity, ArithmeticTakesItsTimeOnADevice) {
  EXPECT_EQ(working_time(parse_flops("8.4GFLOP").value(), parse_flop_rate("1TFLOP/s").value()), Time{8'400'000'000});
  EXPECT_EQ(working_time(Flops{1}, parse_flop_rate("3PFLOP/s").value()).ps, 0);
  EXPECT_EQ(working_time(Flops{std::numeric_limits<std::int64_t>::max()}, FlopRate{1}), Time::max());
  for (const char* bad : {"8", "8 GFLOP", "8GFLOPS", "8GB"}) EXPECT_FALSE(parse_flops(bad).ok()) << bad;
  for (const char* bad : {"1TFLOP", "1TFLOPS", "TFLOP/s"}) EXPECT_FALSE(parse_flop_rate(bad).ok()) << bad;
}

}  // namespace
}  // namespace pdsim
