// Meshes, units and splits that cannot be: each error with what would be right.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

std::string before_program(std::string_view sections) {
  return report_of(with("program:\n", std::string(sections) + "program:\n"));
}

void expect_sharding_error(std::string_view sections, std::string_view what, std::string_view help) {
  const std::string report = before_program(sections);
  EXPECT_NE(report.find(what), std::string::npos) << report;
  EXPECT_NE(report.find(help), std::string::npos) << report;
}

TEST(ShardingError, PointsAtAMeshThatDoesNotFill) {
  EXPECT_EQ(before_program("mesh: {dp: 2, tp: 2}\n"), R"(error[scenario]: a mesh of 4 places in a world of 2 ranks
  --> mine.yaml:10:1
   |
10 | mesh: {dp: 2, tp: 2}
   | ^^^^ the product of its dimensions must be the number of ranks
)");
}

TEST(ShardingError, NamesDimensionsThatThereAre) {
  expect_sharding_error("mesh: {dp: 2}\nddp: {group: db}\n", "the mesh has no dimension `db`", "did you mean `dp`?");
  expect_sharding_error("mesh: {world: 2}\n", "`world` is the group of all ranks", "another name");
  expect_sharding_error("fully_shard: {group: dp}\n", "the mesh has no dimension `dp`", "world");
}

TEST(ShardingError, WantsEachLayerInOneUnitOfTheModel) {
  expect_sharding_error("fully_shard: {units: {one: [trunk], two: [trunk]}}\n", "layer `trunk` is listed twice",
               "a layer can be in one unit only");
  expect_sharding_error("fully_shard: {units: {one: [trank]}}\n", "the model has no layer `trank`", "did you mean `trunk`?");
  expect_sharding_error("fully_shard: {stage: 4}\n", "4", "3");
}

TEST(ShardingError, WantsOneWrapper) {
  expect_sharding_error("ddp: {bucket_cap: 1MiB}\nfully_shard: {stage: 2}\n", "`fully_shard` beside `ddp`", "one wrapper");
  EXPECT_EQ(before_program("fully_shard: {units: {one: [trunk]}}\n"), "");
}

TEST(ShardingError, WantsPartsThatAreTakenUp) {
  expect_sharding_error("ddp: none\ntensor_parallel: {colwise: [trunk]}\n",
               "`norm` needs the whole, but gets a part from `trunk` in path `full`", "a rowwise layer between");
  expect_sharding_error("ddp: none\ntensor_parallel: {rowwise: [head]}\n", "`head` needs a part, but gets the whole",
               "a colwise layer before it");
  expect_sharding_error("ddp: none\ntensor_parallel: {colwise: [norm]}\n", "`norm` is not a linear layer",
               "only linear layers");
  expect_sharding_error("tensor_parallel: {colwise: [trunk], rowwise: [head]}\n", "DDP over the ranks of `world`",
               "the other dimension of the mesh");
}

TEST(ShardingError, WantsTheNormOfAModelThatIsSharded) {
  const std::string report = report_of(with(
      "train: {steps: 3}", "train: {steps: 3, do: [zero_grad, forward, backward, {clip_grad_norm: {of: model}}]}"));
  EXPECT_NE(report.find("`of: model` for a model that is not sharded"), std::string::npos) << report;
}

}  // namespace
}  // namespace pdsim::scenarios
