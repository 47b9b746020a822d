// An event whose waiter helps first: it ends with the help, with set() from another thread, or with its deadline.

#include "backends/engine/caller_runs_event.h"

#include "backends/os/real_runtime.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace pdsim {
namespace {

const auto no_help = [](const std::atomic<bool>&, Time) {};

TEST(CallerRunsEvent, EndsWithItsHelp) {
  RealRuntime runtime;
  CallerRunsEvent* event = nullptr;
  CallerRunsEvent helped(runtime, [&event](const std::atomic<bool>& is_over, Time) {
    event->set();
    EXPECT_TRUE(is_over);
  });
  event = &helped;
  EXPECT_TRUE(helped.wait(Time::max()));
}

TEST(CallerRunsEvent, WakesEveryoneWhoParkedHoweverSoonItIsSet) {
  RealRuntime runtime;
  for (int i = 0; i < 300; ++i) {
    CallerRunsEvent event(runtime, no_help);
    std::thread one([&event] { EXPECT_TRUE(event.wait(Time::max())); });
    std::thread other([&event] { EXPECT_TRUE(event.wait(Time::max())); });
    if (i % 2 == 0) std::this_thread::yield();
    event.set();
    one.join();
    other.join();
  }
}

TEST(CallerRunsEvent, IsGivenUpAtTheDeadlineAndCanBeWaitedForAgain) {
  RealRuntime runtime;
  CallerRunsEvent event(runtime, no_help);
  EXPECT_FALSE(event.wait(runtime.now()));
  event.set();
  EXPECT_TRUE(event.wait(runtime.now()));
}

TEST(HelpedWork, RunsEveryCallbackAndKeepsItsFirstOutcome) {
  RealRuntime runtime;
  const WorkPtr work = make_helped_work(runtime, no_help);
  int before = 0, after = 0;
  for (int i = 0; i < 3; ++i)
    work->on_done([&before, i](const Status& status) { before += status.ok() ? 100 : 1 << i; });
  EXPECT_FALSE(work->done());
  std::thread other([&work] { work->complete(Error{Code::cancelled, "given up", {}}); });
  EXPECT_EQ(work->wait().error().message, "given up");
  other.join();
  work->complete({});
  work->on_done([&after](const Status& status) { after += status.ok() ? 100 : 1; });
  EXPECT_EQ(before, 0b111);
  EXPECT_EQ(after, 1);
}

}  // namespace
}  // namespace pdsim
