#include "core/record/recorded_store.h"

#include "backends/os/real_runtime.h"
#include "tests/unit/backends/shared_map_store.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

TEST(RecordedStore, WritesCallsAndTheLaunchOfWhatIsRead) {
  using namespace literals;
  testing::SharedMap map;
  RealRuntime runtime;
  FlightRecorder recorder(0, runtime);
  auto store = recorded_store(std::make_unique<testing::SharedMapStore>(map), recorder, 2,
                              [](std::string_view, std::string_view value) { return value == "old" ? 1 : 2; });
  ASSERT_TRUE(store->set("key", "old").ok());
  EXPECT_EQ(*store->get("key"), "old");
  store->set_timeout(1_ms);
  EXPECT_FALSE(store->get("missing").ok());

  const RankLog log = recorder.log();
  ASSERT_EQ(log.calls.size(), 3U);
  EXPECT_EQ(log.calls[0].name, "store_set");
  EXPECT_EQ(text_of(log.calls[1].purpose), "key");
  EXPECT_EQ(log.calls[2].error, Code::store_timeout);
  ASSERT_EQ(log.notes.size(), 2U);
  EXPECT_TRUE(log.notes[0].is<notes::StoreWrote>());
  EXPECT_EQ(log.notes[1].body, NoteBody(notes::StoreRead{"key", 1, 2, false}));
}

TEST(FlightRecorder, ProgressGrowsWithEverythingRecorded) {
  RealRuntime runtime;
  FlightRecorder recorder(0, runtime);
  const std::int64_t before = recorder.progress();
  const std::int64_t id = recorder.begin({});
  const std::int64_t begun = recorder.progress();
  recorder.finish(id, {});
  EXPECT_LT(before, begun);
  EXPECT_LT(begun, recorder.progress());
}

}  // namespace
}  // namespace pdsim
