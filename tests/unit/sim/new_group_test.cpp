#include "core/group/new_group.h"

#include "sim/run.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

using Body = std::function<Status(RankEnvironment&, GroupMaker&)>;

RunRecord in_world(int ranks, const Body& body, std::string backend = "gloo") {
  WorldSpec spec;
  spec.ranks_per_node = ranks;
  spec.backend = std::move(backend);
  return run(spec, {},
             [&](RankEnvironment& env) -> ProgramResult {
               auto store = env.rendezvous.env(env.backend.default_timeout());
               if (!store.ok()) return {store.error(), {}};
               GroupMaker maker(env.backend, **store, env.rank, env.world_size, env.recorder);
               return {body(env, maker), {}};
             })
      .value();
}

Result<float> sum_of_ranks(ProcessGroup& group, Rank mine) {
  auto x = static_cast<float>(mine);
  PDSIM_TRY(wait(group.all_reduce({reinterpret_cast<std::byte*>(&x), DType::f32, 1}, ReduceOp::sum)));
  return x;
}

void expect_all_ok(const RunRecord& record) {
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

TEST(NewGroup, SortsItsRanksAndTranslatesThem) {
  expect_all_ok(in_world(4, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    auto group = maker.new_group({3, 1});
    PDSIM_TRY(group.status());
    if (env.rank % 2 == 0) return {};
    EXPECT_EQ((*group)->rank(), env.rank == 1 ? 0 : 1);
    EXPECT_EQ((*group)->global_rank(1), 3);
    EXPECT_EQ((*group)->group_rank(3).value(), 1);
    EXPECT_EQ((*group)->group_rank(2).error().code, Code::invalid_argument);
    EXPECT_EQ((*group)->group_rank(2).error().message,
              "global rank 2 is not in the process group group 1, whose ranks are 1, 3");
    EXPECT_EQ(sum_of_ranks(**group, env.rank).value(), 4.0F);
    return {};
  }));
}

TEST(NewGroup, OfNoRanksIsRefused) {
  expect_all_ok(in_world(2, [](RankEnvironment&, GroupMaker& maker) -> Status {
    const auto group = maker.new_group({});
    EXPECT_EQ(group.ok() ? Code::internal : group.error().code, Code::invalid_argument);
    EXPECT_EQ(maker.made(), 0);
    return {};
  }));
}

TEST(NewGroup, OverlappingGroupsDoNotMixTheirMessages) {
  expect_all_ok(in_world(3, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    auto left = maker.new_group({0, 1});
    PDSIM_TRY(left.status());
    auto right = maker.new_group({1, 2});
    PDSIM_TRY(right.status());
    auto all = maker.new_group({0, 1, 2}, "all");
    PDSIM_TRY(all.status());
    EXPECT_EQ((*all)->name(), "all");
    EXPECT_EQ(sum_of_ranks(**left, env.rank).value(), env.rank == 2 ? 2.0F : 1.0F);  // alone: its own
    EXPECT_EQ(sum_of_ranks(**right, env.rank).value(), env.rank == 0 ? 0.0F : 3.0F);
    EXPECT_EQ(sum_of_ranks(**all, env.rank).value(), 3.0F);
    return {};
  }));
}

TEST(NewGroup, GivesOthersAHandleOnWhichCallsDoNothing) {
  const RunRecord record = in_world(3, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    auto group = maker.new_group({0, 2});
    PDSIM_TRY(group.status());
    if (env.rank == 1) {
      EXPECT_FALSE((*group)->is_member());
      EXPECT_EQ((*group)->rank(), no_rank);
      EXPECT_EQ((*group)->size(), 2);
    }
    const float sum = sum_of_ranks(**group, env.rank).value();
    EXPECT_EQ(sum, env.rank == 1 ? 1.0F : 2.0F);
    (*group)->destroy();
    return {};
  });
  expect_all_ok(record);
  ASSERT_EQ(record.ranks[1].log.notes.size(), 2U);
  ASSERT_TRUE(record.ranks[1].log.notes[0].is<notes::GroupMade>());
  EXPECT_EQ(record.ranks[1].log.notes[0].as<notes::GroupMade>().ranks, (std::vector<Rank>{0, 2}));
  EXPECT_TRUE(record.ranks[1].log.notes[1].is<notes::NotAMember>());
}

TEST(NewGroup, RefusesRanksOutsideTheWorldAndRanksNamedTwice) {
  expect_all_ok(in_world(2, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    EXPECT_EQ(maker.new_group({0, 2}).error().message, "new_group: rank 2 is not in the world, which has ranks 0..1");
    EXPECT_EQ(maker.new_group({-1}).error().code, Code::invalid_argument);
    EXPECT_EQ(maker.new_group({1, 0, 1}).error().message, "new_group: rank 1 is named twice");
    auto group = maker.new_group({0, 1});  // the refused calls did not count
    PDSIM_TRY(group.status());
    EXPECT_EQ(sum_of_ranks(**group, env.rank).value(), 1.0F);
    return {};
  }));
}

TEST(NewGroup, TimesOutWhenAMemberDoesNotCall) {
  const RunRecord record = in_world(3, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    if (env.rank == 2) return (void)env.runtime.sleep_until(Time{1'000'000'000'000'000}), Status{};
    return maker.new_group({0, 2}, {}, Time{1'000'000'000'000}).status();
  });
  EXPECT_EQ(record.ranks[0].log.end, RankEnd::raised);
  EXPECT_EQ(record.ranks[1].log.end, RankEnd::returned);
}

TEST(NewGroup, WithOtherMembersOnSomeRanksNeverMeets) {
  const RunRecord record = in_world(3, [](RankEnvironment& env, GroupMaker& maker) -> Status {
    const std::vector<Rank> ranks = env.rank == 0 ? std::vector<Rank>{0, 1} : std::vector<Rank>{0, 1, 2};
    return maker.new_group(ranks, {}, Time{1'000'000'000'000}).status();
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::raised);
}

}  // namespace
}  // namespace pdsim::sim
