// The engine of polled libraries alone, with operations that no library stands behind.
#include "backends/engine/polling_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

const Error reason{Code::timeout, "it took too long", {}};

// What became of an operation, for the test's thread.
struct Fate {
  std::atomic<int> polls = 0;
  std::promise<std::string> ended;
};

// Ends at its n-th poll, or when it is aborted.
class Countdown final : public PolledOperation {
 public:
  Countdown(Fate& fate, int polls) : fate_(fate), polls_(polls) {}
  bool poll() override {
    if (++fate_.polls < polls_) return false;
    fate_.ended.set_value("ended");
    return true;
  }
  void abort(const Error& why) override { fate_.ended.set_value(why.message); }

 private:
  Fate& fate_;
  int polls_;
};

constexpr int never = 1 << 30;

class TestEngine final : public PollingEngine {
 public:
  explicit TestEngine(std::atomic<int>* undone = nullptr) : PollingEngine("the engine was aborted"), undone_(undone) {}
  ~TestEngine() override {
    stop([this](bool undone) {
      if (undone_ != nullptr) *undone_ = undone ? 1 : 0;
    });
  }
  using PollingEngine::begin;
  void start(Fate& fate, int polls) {
    run([this, &fate, polls] { add(std::make_unique<Countdown>(fate, polls)); });
  }

 private:
  std::atomic<int>* undone_;
};

TEST(PollingEngine, NapsForAHundredthOfAQuietTimeAndNoLongerThanFiveMilliseconds) {
  using std::chrono::milliseconds;
  EXPECT_EQ(nap_after(milliseconds(0)), milliseconds(0));
  EXPECT_EQ(nap_after(milliseconds(20)), milliseconds(0));
  EXPECT_EQ(nap_after(milliseconds(100)), milliseconds(1));
  EXPECT_EQ(nap_after(milliseconds(500)), milliseconds(5));
  EXPECT_EQ(nap_after(std::chrono::hours(1)), milliseconds(5));
}

TEST(PollingEngine, RunsTasksOnOneThreadInTheOrderOfTheCalls) {
  TestEngine engine;
  std::thread::id thread;
  ASSERT_TRUE(engine
                  .begin([&thread] {
                    thread = std::this_thread::get_id();
                    return Status{};
                  })
                  .ok());
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    engine.enqueue([&order, &thread, i] {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      order.push_back(i);
    });
  const Status told = engine.call([&] {
    engine.run([&order] { order.push_back(100); });  // at once, for this is the engine's thread
    EXPECT_EQ(order.back(), 100);
    return Status(Error{Code::invalid_argument, "as it says", {}});
  });
  EXPECT_EQ(told.error().message, "as it says");
  ASSERT_EQ(order.size(), 101U);
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(PollingEngine, PollsEachOperationUntilItEnds) {
  std::atomic<int> undone = -1;
  Fate soon, later;
  {
    TestEngine engine(&undone);
    ASSERT_TRUE(engine.begin([] { return Status{}; }).ok());
    engine.start(later, 1000);
    engine.start(soon, 3);
    EXPECT_EQ(soon.ended.get_future().get(), "ended");
    EXPECT_EQ(later.ended.get_future().get(), "ended");
  }
  EXPECT_EQ(soon.polls, 3);
  EXPECT_EQ(later.polls, 1000);
  EXPECT_EQ(undone, 0);
}

TEST(PollingEngine, AbortEndsWhatIsInFlightAndCallsTheLibraryNoMore) {
  std::atomic<int> undone = -1;
  Fate first, second;
  {
    TestEngine engine(&undone);
    ASSERT_TRUE(engine.begin([] { return Status{}; }).ok());
    engine.start(first, never);
    engine.start(second, never);
    EXPECT_TRUE(engine.health().ok());
    engine.abort(reason);
    EXPECT_EQ(first.ended.get_future().get(), reason.message);
    EXPECT_EQ(second.ended.get_future().get(), reason.message);
    const int polls = first.polls;
    engine.abort({Code::internal, "again", {}});  // nothing ends twice
    EXPECT_EQ(engine.health().error().code, Code::group_unusable);
    EXPECT_EQ(engine.health().error().message, "the engine was aborted");
    bool called = false;
    const Status refused = engine.call([&called] {
      called = true;
      return Status{};
    });
    EXPECT_EQ(refused.error().code, Code::group_unusable);
    EXPECT_FALSE(called);
    EXPECT_EQ(first.polls, polls);
  }
  EXPECT_EQ(undone, 1);
}

TEST(PollingEngine, ABeginningThatFailsLeavesNothingButTheEnd) {
  TestEngine engine;
  EXPECT_EQ(engine.begin([] { return Status(reason); }).error().message, reason.message);
}

TEST(PollingEngine, SaysAtTheEndThatSomethingWasLeftUndone) {
  std::atomic<int> undone = -1;
  Fate fate;
  {
    TestEngine engine(&undone);
    ASSERT_TRUE(engine.begin([] { return Status{}; }).ok());
    EXPECT_TRUE(engine
                    .call([&] {
                      engine.add(std::make_unique<Countdown>(fate, never));
                      return Status{};
                    })
                    .ok());
  }
  EXPECT_EQ(undone, 1);
}

TEST(PolledOperations, OneThatIsAddedByAPollIsPolledTheNextTime) {
  struct Adds final : PolledOperation {
    Adds(PolledOperations& operations, Fate& fate) : all(operations), added(fate) {}
    bool poll() override {
      all.add(std::make_unique<Countdown>(added, 1));
      return true;
    }
    void abort(const Error&) override {}
    PolledOperations& all;
    Fate& added;
  };
  PolledOperations all;
  Fate other;
  all.add(std::make_unique<Adds>(all, other));
  EXPECT_TRUE(all.poll());
  EXPECT_EQ(other.polls, 0);
  EXPECT_TRUE(all.has_added());
  EXPECT_TRUE(all.poll());
  EXPECT_EQ(other.polls, 1);
  EXPECT_TRUE(all.empty());
  EXPECT_FALSE(all.poll());
}

TEST(PolledOperations, OneThatAbortsAllIsTheLastThatIsPolled) {
  struct Aborts final : PolledOperation {
    explicit Aborts(PolledOperations& operations) : all(operations) {}
    bool poll() override {
      all.abort(reason);
      return false;
    }
    void abort(const Error&) override {}
    PolledOperations& all;
  };
  PolledOperations all;
  Fate other;
  all.add(std::make_unique<Aborts>(all));
  all.add(std::make_unique<Countdown>(other, 1));
  EXPECT_FALSE(all.poll());
  EXPECT_TRUE(all.aborted());
  EXPECT_EQ(other.polls, 0);
  EXPECT_EQ(other.ended.get_future().get(), reason.message);
}

}  // namespace
}  // namespace pdsim
