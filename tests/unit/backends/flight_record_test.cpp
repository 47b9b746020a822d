// The flight record's list of calls: the newest, in order, from wherever it was cut.

#include "core/record/flight_record.h"

#include "backends/os/real_runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pdsim {
namespace {

constexpr std::int64_t capacity = 100;

void record(FlightRecorder& recorder, std::int64_t number) {
  const std::int64_t id = recorder.begin_filled([number](Call& call) { call.name = "call " + std::to_string(number); });
  EXPECT_EQ(id, number);
  recorder.started(id);
  recorder.finish(id, {});
}

void expect_newest(const RankLog& log, std::int64_t recorded) {
  const std::int64_t kept = std::min(recorded, capacity);
  ASSERT_EQ(static_cast<std::int64_t>(log.calls.size()), kept);
  EXPECT_EQ(log.dropped, recorded - kept);
  for (std::int64_t i = 0; i < kept; ++i) {
    const Call& call = log.calls[static_cast<std::size_t>(i)];
    EXPECT_EQ(call.id, recorded - kept + i);
    EXPECT_EQ(call.name, "call " + std::to_string(call.id));
    EXPECT_EQ(call.state, CallState::completed);
  }
}

class FlightRecorderTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(CallsReserved, FlightRecorderTest, testing::Values(0, 1, 70, 2000));

TEST_P(FlightRecorderTest, KeepsTheNewestCallsInOrderHoweverManyFellOff) {
  const RealRuntime clock;
  FlightRecorder recorder(0, clock, capacity);
  recorder.reserve(GetParam());
  expect_newest(recorder.log(), 0);
  for (std::int64_t number = 0; number < 700; ++number) {
    record(recorder, number);
    expect_newest(recorder.log(), number + 1);
  }
  recorder.finish(3, {});  // fell off
  expect_newest(recorder.take_log(), 700);
  EXPECT_TRUE(recorder.log().calls.empty());
  recorder.finish(699, {});  // was taken
  record(recorder, 700);
  EXPECT_EQ(recorder.log().calls.at(0).name, "call 700");
}

}  // namespace
}  // namespace pdsim
