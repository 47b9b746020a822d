#include "core/store/hash_store.h"

#include "backends/os/real_runtime.h"
#include "core/store/prefix_store.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pdsim {
namespace {

using namespace pdsim::literals;
using Keys = std::vector<std::string>;

// A runtime whose events tell when somebody waits on them.
class WatchedRuntime final : public Runtime {
 public:
  explicit WatchedRuntime(Event& parked) : parked_(parked) {}
  Time now() const override { return real_.now(); }
  void sleep_until(Time t) override { real_.sleep_until(t); }
  void compute(Time) override {}
  std::unique_ptr<Event> make_event() override {
    class Watched final : public Event {
     public:
      Watched(std::unique_ptr<Event> real, Event& parked) : real_(std::move(real)), parked_(parked) {}
      void set() override { real_->set(); }
      bool is_set() const override { return real_->is_set(); }
      bool wait(Time deadline) override {
        parked_.set();
        return real_->wait(deadline);
      }

     private:
      std::unique_ptr<Event> real_;
      Event& parked_;
    };
    return std::make_unique<Watched>(real_.make_event(), parked_);
  }

 private:
  RealRuntime real_;
  Event& parked_;
};

TEST(HashStore, AddWakesNobodyButTheWaitSucceedsAtItsDeadline) {
  RealRuntime runtime;
  const auto parked = runtime.make_event();
  WatchedRuntime watched(*parked);
  HashTable table;
  Time woken{};
  const Time began = runtime.now();
  std::thread waiter([&] {
    EXPECT_TRUE(HashStore(table, watched).wait(Keys{"k"}, 50_ms));
    woken = runtime.now();
  });
  ASSERT_TRUE(parked->wait(Time::max()));
  ASSERT_TRUE(HashStore(table, runtime).add("k", 1));
  waiter.join();
  EXPECT_GE(woken - began, 50_ms);
}

TEST(HashStore, AnyOtherSetWakesTheWaiterOfAnAddedKey) {
  RealRuntime runtime;
  const auto parked = runtime.make_event();
  WatchedRuntime watched(*parked);
  HashTable table;
  std::thread waiter([&] { EXPECT_TRUE(HashStore(table, watched).wait(Keys{"k"}, Time{})); });
  ASSERT_TRUE(parked->wait(Time::max()));
  HashStore store(table, runtime);
  ASSERT_TRUE(store.add("k", 1));
  ASSERT_TRUE(store.set("unrelated", ""));
  waiter.join();
}

TEST(PrefixStore, NestsAndLeavesTimeoutAndNumKeysToItsBase) {
  RealRuntime runtime;
  HashTable table;
  HashStore base(table, runtime);
  PrefixStore group("default_pg", base);
  PrefixStore backend("0", group);
  ASSERT_TRUE(backend.set("rank_1", "address"));
  EXPECT_EQ(base.get("default_pg/0/rank_1").value(), "address");
  ASSERT_TRUE(base.set("other", ""));
  EXPECT_EQ(backend.num_keys().value(), 2);
  base.set_timeout(7_s);
  EXPECT_EQ(backend.timeout(), 7_s);
  backend.set_timeout(1_ms);
  EXPECT_EQ(base.timeout(), 1_ms);
}

TEST(PrefixStore, AKeyWithoutThePrefixIsNamedAsTheNearest) {
  RealRuntime runtime;
  HashTable table;
  HashStore base(table, runtime);
  ASSERT_TRUE(base.set("unrelated", ""));
  ASSERT_TRUE(base.set("x", ""));
  const Status waited = PrefixStore("a", base).wait(Keys{"x"}, 1_ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(fact(waited.error().facts, "key"), "a/x");
  EXPECT_EQ(fact(waited.error().facts, "nearest_key"), "x");
}

}  // namespace
}  // namespace pdsim
