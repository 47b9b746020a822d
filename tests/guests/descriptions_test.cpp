// Groups that ranks describe in different words: on record each has one name, and it is known who uses which.

#include "scenarios/records/group_descriptions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

// A rank that made these groups of ranks 0 and 1, and called in the last of them.
RankResult rank_with(Rank rank, const std::vector<std::string>& groups) {
  RankResult result;
  result.log.rank = rank;
  for (std::size_t g = 0; g < groups.size(); ++g)
    result.log.notes.push_back({-1, {}, {}, notes::GroupMade{groups[g], static_cast<int>(g) + 1, {0, 1}}});
  Call call;
  call.group = groups.back();
  result.log.calls.push_back(call);
  return result;
}

TEST(GroupDescriptions, GiveEachGroupTheNameOfItsFirstRank) {
  RunRecord run;
  run.ranks.push_back(rank_with(0, {"mesh_rows 1", "mesh_columns 2"}));
  run.ranks.push_back(rank_with(1, {"mesh_columns 1", "mesh_rows 2"}));
  const std::vector<scenarios::GroupDescriptions> groups = scenarios::give_groups_one_name(run);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].members, (std::vector<Rank>{0, 1}));
  ASSERT_EQ(groups[0].names.size(), 2U);
  EXPECT_EQ(groups[0].names[1].first, "mesh_columns 1");
  EXPECT_EQ(groups[0].names[1].second, std::vector<Rank>(1, 1));
  EXPECT_EQ(run.ranks[1].log.notes[0].as<notes::GroupMade>().group, "mesh_rows 1");
  EXPECT_EQ(run.ranks[1].log.calls[0].group, "mesh_columns 2");
}

TEST(GroupDescriptions, AreSilentWhereRanksAgree) {
  RunRecord run;
  for (const Rank rank : {0, 1}) run.ranks.push_back(rank_with(rank, {"mesh_rows 1", "group 2"}));
  EXPECT_TRUE(scenarios::give_groups_one_name(run).empty());
  EXPECT_EQ(run.ranks[1].log.calls[0].group, "group 2");
}

TEST(GroupDescriptions, DoNotConcernOtherRanksUnderOneNumber) {
  RunRecord run;
  run.ranks.push_back(rank_with(0, {"mesh_rows 1"}));
  run.ranks.push_back(rank_with(1, {"mesh_columns 1"}));
  std::get<notes::GroupMade>(run.ranks[1].log.notes[0].body).ranks = {1, 2};
  EXPECT_TRUE(scenarios::give_groups_one_name(run).empty());
  EXPECT_EQ(run.ranks[1].log.calls[0].group, "mesh_columns 1");
}

}  // namespace
}  // namespace pdsim::guest_tests
