// Sub-groups: disjoint ones do not touch each other; overlapping ones are fine in one order, and a deadlock in two.
#include "core/group/new_group.h"
#include "tests/property/numbers.h"
#include "tests/property/worlds/sim_world.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>

namespace pdsim::property {
namespace {

constexpr const char* library_names[] = {"ideal", "gloo", "nccl", "mpi"};

RunRecord in_world(const CollectiveCase& c, const std::function<Status(RankEnvironment&, GroupMaker&)>& body) {
  return sim::run(spec_of(c), options_of(c),
                  [&](RankEnvironment& env) -> ProgramResult {
                    auto store = env.rendezvous.env(env.backend.default_timeout());
                    if (!store.ok()) return {store.error(), {}};
                    GroupMaker maker(env.backend, **store, env.rank, env.world_size, env.recorder);
                    return {body(env, maker), {}};
                  })
      .value();
}

Status sum_in(ProcessGroup& group, Rank mine, std::string_view algorithm = "auto") {
  std::vector<std::int64_t> x(5, mine);
  CallOptions options;
  options.algorithm = algorithm;
  PDSIM_TRY(wait(group.all_reduce({reinterpret_cast<std::byte*>(x.data()), DType::i64, 5}, ReduceOp::sum, options)));
  std::int64_t sum = 0;
  for (Rank r = 0; group.is_member() && r < group.size(); ++r) sum += group.global_rank(r);
  for (const std::int64_t got : x)
    if (group.is_member() && got != sum) return Error{Code::wrong_data, "another sum than that of the group", {}};
  return {};
}

std::string ends(const RunRecord& record) {
  for (const RankResult& r : record.ranks)
    if (r.log.end != RankEnd::returned) return r.log.error.message.empty() ? "blocked" : r.log.error.message;
  return {};
}

// Ranks dealt to two or three groups at random; all algorithms, all schedules.
TEST(DisjointGroups, DoNotTouchEachOther) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.kind != CollectiveKind::all_reduce) continue;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CollectiveCase c;
      Random draw = Random(seed).stream("groups");
      c.ranks = 2 + static_cast<int>(draw.below(7));
      c.schedule = seed;
      c.backend = library_names[draw.below(4)];
      std::vector<std::vector<Rank>> groups(2 + draw.below(2));
      for (Rank r = 0; r < c.ranks; ++r) groups[draw.below(groups.size())].push_back(r);
      const RunRecord record = in_world(c, [&](RankEnvironment& env, GroupMaker& maker) -> Status {
        std::vector<std::unique_ptr<ProcessGroup>> made;
        for (const auto& ranks : groups) {
          if (ranks.empty()) continue;
          auto group = maker.new_group(ranks);
          PDSIM_TRY(group.status());
          made.push_back(std::move(*group));
        }
        for (int i = 0; i < 3; ++i)
          for (const auto& group : made) PDSIM_TRY(sum_in(*group, env.rank, algorithm.name));
        return {};
      });
      EXPECT_EQ(ends(record), "") << algorithm.name << " " << to_text(c);
    }
  }
}

// Every rank of p is in two groups of neighbours; rank r uses them in the order that `first` gives.
RunRecord neighbours(const CollectiveCase& c, const std::function<bool(Rank)>& lower_first) {
  return in_world(c, [&](RankEnvironment& env, GroupMaker& maker) -> Status {
    std::vector<std::unique_ptr<ProcessGroup>> made;
    for (Rank r = 0; r < c.ranks; ++r) {
      auto group = maker.new_group({r, (r + 1) % c.ranks});
      PDSIM_TRY(group.status());
      made.push_back(std::move(*group));
    }
    const auto before = static_cast<std::size_t>((env.rank + c.ranks - 1) % c.ranks);
    const auto own = static_cast<std::size_t>(env.rank);
    const bool lower = lower_first(env.rank);
    PDSIM_TRY(sum_in(*made[lower ? std::min(own, before) : std::max(own, before)], env.rank));
    return sum_in(*made[lower ? std::max(own, before) : std::min(own, before)], env.rank);
  });
}

TEST(OverlappingGroups, UsedInOneOrderEverywhereAreFine) {
  for (const char* library : library_names)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      CollectiveCase c;
      c.ranks = 3 + static_cast<int>(seed % 4);
      c.schedule = seed;
      c.backend = library;
      EXPECT_EQ(ends(neighbours(c, [](Rank) { return true; })), "") << to_text(c);
    }
}

// Rank r begins with its own group, {r, r + 1}, whose other member begins with the next one: a circle.
TEST(OverlappingGroups, UsedInAnotherOrderByEveryRankAreADeadlockOnEverySchedule) {
  for (const char* library : library_names)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      CollectiveCase c;
      c.ranks = 3 + static_cast<int>(seed % 4);
      c.schedule = seed;
      c.backend = library;
      // Of rank 0 the own group is the lower one, of the others the higher one.
      const RunRecord record = neighbours(c, [](Rank r) { return r == 0; });
      EXPECT_TRUE(record.deadlocked) << to_text(c);
      for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::running) << to_text(c);
    }
}

}  // namespace
}  // namespace pdsim::property
