// Events against a map that does the same, and tables of waiting messages against lists.
#include "sim/events.h"

#include "core/base/random.h"
#include "sim/match_table.h"

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
      const std::uint32_t first = found == expected.end() ? MatchTable::none : found->second.front();
      ASSERT_EQ(table.front(key), first);
      if (what < 10) {
        table.push(key, item);
        expected[key].push_back(item++);
      } else if (what < 19) {
        ASSERT_EQ(table.take(key), first);
        if (found != expected.end()) found->second.pop_front();
        if (found != expected.end() && found->second.empty()) expected.erase(found);
      } else {
        const std::uint32_t every = 2 + static_cast<std::uint32_t>(random.below(3));
        const auto unwanted = [every](std::uint32_t id) { return id % every != 0; };
        table.remove_if(unwanted);
        for (auto at = expected.begin(); at != expected.end();) {
          at->second.remove_if(unwanted);
          at = at->second.empty() ? expected.erase(at) : std::next(at);
        }
      }
      if (i % 50 != 0) continue;
      std::vector<std::uint32_t> all;
      for (const auto& [k, queue] : expected) all.insert(all.end(), queue.begin(), queue.end());
      ASSERT_EQ(table.items(), all);
    }
  }
}

}  // namespace
}  // namespace pdsim::sim
