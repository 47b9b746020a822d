// One suite over every kind of store.
#include "backends/os/real_files.h"
#include "backends/os/real_runtime.h"
#include "backends/tcp_store/tcp_store.h"
#include "core/store/file_store.h"
#include "core/store/hash_store.h"
#include "core/store/prefix_store.h"
#include "tests/unit/store/memory_log_file.h"
#include "tests/unit/store/store_world.h"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace pdsim::literals;
using Keys = std::vector<std::string>;

class RealFileWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    return FileStore::open(real_log(folder_ / "store"), {folder_ / "store", -1, FileRemoval::count_equals_workers})
        .value();
  }
  bool delete_tells() const override { return false; }

 private:
  TemporaryFolder folder_;
};

class MemoryFileWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    return FileStore::open(std::make_unique<MemoryLogFile>(file_),
                           {"run/store", -1, FileRemoval::count_reached_and_unreferenced})
        .value();
  }
  bool for_threads() const override { return false; }
  std::int64_t own_keys() const override { return 1; }
  bool delete_tells() const override { return false; }

 private:
  MemoryFile file_;
};

class HashWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override { return std::make_unique<HashStore>(table_, runtime_); }

 private:
  RealRuntime runtime_;
  HashTable table_;
};

class PrefixWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    const std::lock_guard lock(mutex_);
    bases_.push_back(std::make_unique<HashStore>(table_, runtime_));
    bases_.push_back(std::make_unique<PrefixStore>("default_pg", *bases_.back()));
    return std::make_unique<PrefixStore>("0", *bases_.back());
  }

 private:
  RealRuntime runtime_;
  HashTable table_;
  std::deque<std::unique_ptr<Store>> bases_;
  std::mutex mutex_;
};

class TcpWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    TcpStoreOptions options;
    options.port = server_->port();
    return std::move(TcpStore::open(options)).value();
  }

 private:
  std::shared_ptr<TcpServer> server_ = TcpServer::start("127.0.0.1", 0).value();
};

class AnyStore : public ::testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<StoreWorld> world = GetParam().make();
  std::unique_ptr<Store> store = world->open();
};

TEST_P(AnyStore, GetReturnsWhatWasSetLast) {
  ASSERT_TRUE(store->set("key", "one"));
  ASSERT_TRUE(store->set("key", "two"));
  EXPECT_EQ(store->get("key").value(), "two");
  EXPECT_EQ(world->open()->get("key").value(), "two");
}

TEST_P(AnyStore, ValuesAndKeysAreBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  ASSERT_TRUE(store->set(bytes, bytes));
  ASSERT_TRUE(store->set("empty", ""));
  EXPECT_EQ(store->get(bytes).value(), bytes);
  EXPECT_EQ(store->get("empty").value(), "");
  const std::string large(300'000, 'x');
  ASSERT_TRUE(store->set("large", large));
  EXPECT_EQ(store->get("large").value(), large);
}

TEST_P(AnyStore, AddCountsInDecimalTextFromZero) {
  EXPECT_EQ(store->add("n", 5).value(), 5);
  EXPECT_EQ(store->add("n", -7).value(), -2);
  EXPECT_EQ(store->get("n").value(), "-2");
  ASSERT_TRUE(store->set("n", "40"));
  EXPECT_EQ(store->add("n", 2).value(), 42);
  EXPECT_EQ(store->add("n", 0).value(), 42);
}

TEST_P(AnyStore, AddToSomethingElseIsAnErrorAndLeavesIt) {
  ASSERT_TRUE(store->set("n", "peer"));
  const auto sum = store->add("n", 1);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().code, Code::invalid_argument);
  EXPECT_EQ(store->get("n").value(), "peer");
  ASSERT_TRUE(store->set("n", "9223372036854775807"));
  EXPECT_FALSE(store->add("n", 1));
}

TEST_P(AnyStore, CompareSetFollowsItsTable) {
  EXPECT_EQ(store->compare_set("k", "old", "new").value(), "old")
      << "missing, something expected: told what was expected";
  EXPECT_FALSE(store->check(Keys{"k"}).ok() && store->check(Keys{"k"}).value());
  EXPECT_EQ(store->compare_set("k", "", "first").value(), "first") << "missing, nothing expected: set";
  EXPECT_EQ(store->compare_set("k", "wrong", "second").value(), "first")
      << "present, other value: told the present one";
  EXPECT_EQ(store->compare_set("k", "first", "second").value(), "second") << "present, same value: swapped";
  EXPECT_EQ(store->get("k").value(), "second");
}

TEST_P(AnyStore, CheckWantsAllKeys) {
  ASSERT_TRUE(store->set("a", "1"));
  EXPECT_TRUE(store->check(Keys{"a"}).value());
  EXPECT_FALSE(store->check(Keys{"a", "b"}).value());
  EXPECT_TRUE(store->check(Keys{}).value());
}

TEST_P(AnyStore, DeletedKeysAreGone) {
  ASSERT_TRUE(store->set("a", "1"));
  EXPECT_TRUE(store->delete_key("a").value());
  EXPECT_FALSE(store->check(Keys{"a"}).value());
  EXPECT_EQ(store->delete_key("a").value(), !world->delete_tells());
  EXPECT_EQ(store->add("a", 1).value(), 1);
}

TEST_P(AnyStore, NumKeysCountsAlsoWhatTheStoreKeepsForItself) {
  ASSERT_TRUE(store->set("a", "1"));
  ASSERT_TRUE(store->set("b", "1"));
  ASSERT_TRUE(store->set("b", "2"));
  EXPECT_EQ(store->num_keys().value(), 2 + world->own_keys());
  ASSERT_TRUE(store->delete_key("a"));
  EXPECT_EQ(store->num_keys().value(), 1 + world->own_keys());
}

TEST_P(AnyStore, AppendExtends) {
  ASSERT_TRUE(store->append("k", "ab"));
  ASSERT_TRUE(store->append("k", "ab"));
  EXPECT_EQ(store->get("k").value(), "abab");
}

TEST_P(AnyStore, WaitTimesOutAndNamesTheMissingAndTheNearestKey) {
  ASSERT_TRUE(store->set("worker_1", ""));
  const Status waited = store->wait(Keys{"worker_1", "worker_2"}, 20_ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::store_timeout);
  EXPECT_TRUE(fact(waited.error().facts, "key").ends_with("worker_2"));
  EXPECT_TRUE(fact(waited.error().facts, "nearest_key").ends_with("worker_1"));
  EXPECT_NE(waited.error().message.find("20ms"), std::string::npos) << waited.error().message;
}

TEST_P(AnyStore, GetTimesOutAndTheHandleStaysUsable) {
  store->set_timeout(20_ms);
  ASSERT_TRUE(store->set("here", "1"));
  const auto got = store->get("nowhere");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::store_timeout);
  EXPECT_EQ(store->get("here").value(), "1");
}

TEST_P(AnyStore, ABlockedGetWakesWhenAnotherHandleSets) {
  if (!world->for_threads()) GTEST_SKIP() << "this file belongs to one thread";
  const auto other = world->open();
  ASSERT_TRUE(other->set("ready", "no"));
  std::string got;
  std::thread reader([&] { got = other->get("answer").value(); });
  ASSERT_TRUE(store->set("answer", "42"));
  reader.join();
  EXPECT_EQ(got, "42");
}

TEST_P(AnyStore, ConcurrentAddsAndSwapsLoseNothing) {
  if (!world->for_threads()) GTEST_SKIP() << "this file belongs to one thread";
  constexpr int threads = 4;
  constexpr int each = 25;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&] {
      const auto mine = world->open();
      for (int k = 0; k < each; ++k) {
        EXPECT_TRUE(mine->add("n", 1));
        EXPECT_TRUE(mine->append("log", "x"));
      }
    });
  for (std::thread& t : running) t.join();
  EXPECT_EQ(store->get("n").value(), std::to_string(threads * each));
  EXPECT_EQ(store->get("log").value().size(), std::size_t{threads * each});
}

template <class World>
std::unique_ptr<StoreWorld> make() {
  return std::make_unique<World>();
}

INSTANTIATE_TEST_SUITE_P(All, AnyStore,
                         ::testing::Values(StoreKind{"Hash", make<HashWorld>}, StoreKind{"Prefix", make<PrefixWorld>},
                                           StoreKind{"Tcp", make<TcpWorld>}, StoreKind{"RealFile", make<RealFileWorld>},
                                           StoreKind{"MemoryFile", make<MemoryFileWorld>}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace pdsim::testing
