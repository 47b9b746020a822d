// Events against a map that does the same, and tables of waiting messages against lists.
#include "sim/kernel/events.h"

#include "core/base/random.h"
#include "sim/network/match_table.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <utility>
#include <vector>

namespace pdsim::sim {
namespace {

TEST(Events, ComeInTheOrderOfTheirTimesThenOfTheirMaking) {
  // Few times, so that many share one; now and then one is removed that is first, in the middle, or over.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Events events;
    std::map<std::pair<Time, std::uint64_t>, std::uint64_t> expected;
    std::vector<EventKey> made;
    std::uint64_t fired = 0, number = 0;
    Time now{};
    const std::uint64_t times = 1 + random.below(seed % 2 == 0 ? 6 : 1000);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t what = random.below(10);
      if (what < 5) {
        const Time at{now.ps + static_cast<std::int64_t>(random.below(times))};
        made.push_back(events.add(at, number, [&fired, number] { fired = number; }));
        expected.emplace(std::pair(at, number), number);
        ++number;
      } else if (what < 7 && !made.empty()) {
        const EventKey key = made[random.below(made.size())];
        ASSERT_EQ(events.remove(key), expected.erase({key.at, key.number}) == 1);
      } else if (!expected.empty()) {
        ASSERT_EQ(events.first().at, expected.begin()->first.first);
        ASSERT_EQ(events.first().number, expected.begin()->second);
        now = events.first().at;
        events.take_first()();
        ASSERT_EQ(fired, expected.begin()->second);
        expected.erase(expected.begin());
      }
      ASSERT_EQ(events.empty(), expected.empty());
    }
  }
}

TEST(Events, ThatWereRemovedLeaveNothingBehind) {
  Events events;
  const EventKey far = events.add(Time{1'000'000}, 0, [] {});
  for (std::uint64_t i = 1; i < 10'000; ++i) ASSERT_TRUE(events.remove(events.add(Time{2'000'000}, i, [] {})));
  EXPECT_LT(events.add(Time{5}, 10'000, [] {}).slot, 1000U);  // places are used again
  events.take_first();
  EXPECT_EQ(events.first(), far);
  events.clear();
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(events.remove(far));
}

TEST(MatchTable, QueuesByKeyInOrder) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    MatchTable table;
    std::vector<std::uint32_t> next(1500);
    const auto next_of = [&next](std::uint32_t id) -> std::uint32_t& { return next[id]; };
    std::map<MatchKey, std::list<std::uint32_t>> expected;
    const std::uint64_t ranks = 1 + random.below(6);
    std::uint32_t item = 0;
    for (int i = 0; i < 1500; ++i) {
      MatchKey key;
      key.channel = static_cast<int>(random.below(2));
      key.sender = static_cast<Rank>(random.below(ranks));
      key.receiver = static_cast<Rank>(random.below(ranks));
      key.tag = random.below(2) << 56;
      const std::uint64_t what = random.below(20);
      const auto found = expected.find(key);
      MatchQueue& queue = table.at(key).waiting;
      ASSERT_EQ(queue.first, found == expected.end() ? MatchQueue::none : found->second.front());
      if (what < 10) {
        queue.push(item, next_of);
        expected[key].push_back(item++);
      } else if (what < 19 && found != expected.end()) {
        ASSERT_EQ(queue.pop(next_of), found->second.front());
        found->second.pop_front();
        if (found->second.empty()) expected.erase(found);
      } else if (what == 19) {
        const std::uint32_t every = 2 + static_cast<std::uint32_t>(random.below(3));
        const auto unwanted = [every](std::uint32_t id) { return id % every != 0; };
        table.for_each([&](MatchEntry& entry) { entry.waiting.remove_if(next_of, unwanted); });
        for (auto at = expected.begin(); at != expected.end();) {
          at->second.remove_if(unwanted);
          at = at->second.empty() ? expected.erase(at) : std::next(at);
        }
      }
      if (i % 50 != 0) continue;
      std::vector<MatchKey> keys;
      for (const auto& [k, list] : expected) keys.push_back(k);
      ASSERT_EQ(table.keys_if([](const MatchEntry&) { return true; }), keys);
      for (const auto& [k, list] : expected) {
        std::vector<std::uint32_t> ids;
        for (std::uint32_t id = table.at(k).waiting.first; id != MatchQueue::none; id = next[id]) ids.push_back(id);
        ASSERT_EQ(ids, std::vector<std::uint32_t>(list.begin(), list.end()));
      }
    }
  }
}

// A million calls leave as many keys behind, and one message at a time.
TEST(MatchTable, ForgetsKeysThatNothingWaitsFor) {
  MatchTable table;
  std::uint32_t next = 0;
  const auto next_of = [&next](std::uint32_t) -> std::uint32_t& { return next; };
  for (Tag tag = 0; tag < 1'000'000; ++tag) {
    MatchQueue& queue = table.at({0, 1, 2, tag}).waiting;
    queue.push(0, next_of);
    queue.pop(next_of);
  }
  EXPECT_LE(table.size(), 65536U);
}

}  // namespace
}  // namespace pdsim::sim
