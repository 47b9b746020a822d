// A pipeline over RPC, and layers with sizes and speeds, that cannot be: each error with what would be right.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

constexpr std::string_view source = R"(pdsim: 1
name: mine
summary: one sentence
world: {ranks: 3}
model:
  layers:
    fc1: {linear: [4, 8]}
    fc2: {linear: [8, 2]}
    big: {meta: [[8, 8]], compute: 1ms, gives: 16}
  paths: {first: [fc1], second: [fc2], sizes: [big]}
batch: 4
program:
  - rpc_pipeline: {shards: [first, second]}
expect: {outcome: ok}
)";

std::string instead_of(std::string_view what, std::string_view replacement) {
  std::string text(source);
  text.replace(text.find(what), what.size(), replacement);
  return report_of(text);
}

void expect_error(const std::string& report, std::string_view what, std::string_view help) {
  EXPECT_NE(report.find(what), std::string::npos) << report;
  EXPECT_NE(report.find(help), std::string::npos) << report;
}

TEST(RpcPipelineError, NamesTheShardThatIsNotAPath) {
  EXPECT_EQ(instead_of("[first, second]", "[first, secund]"),
            R"(error[scenario]: `rpc_pipeline` names a shard `secund`, but the model has no such path
  --> mine.yaml:13:5
   |
13 |   - rpc_pipeline: {shards: [first, secund]}
   |     ^^^^^^^^^^^^ did you mean `second`?
)");
  EXPECT_EQ(instead_of("[first, second]", "[first, second], num_split: 4"), "");
}

TEST(RpcPipelineError, WantsARankForEachShardAndARowForEachMicroBatch) {
  expect_error(instead_of("ranks: 3", "ranks: 2"), "2 shards in a world of 2 ranks", "`ranks: 3`");
  expect_error(instead_of("second]}", "second], num_split: 5}"), "5 micro-batches for a batch of 4 rows", "larger `batch`");
}

TEST(RpcPipelineError, WantsAWorkerThatExistsForEachShard) {
  EXPECT_EQ(instead_of("[first, second]", "[first, second], workers: [worker2, worker2]"), "");
  expect_error(instead_of("second]}", "second], workers: [worker1]}"), "2 shards, but `workers` names 1",
               "a worker for each shard");
  expect_error(instead_of("second]}", "second], workers: [worker1, worker3]}"), "names a worker `worker3`, but no rank has that name",
               "worker0 .. worker2");
}

TEST(RpcPipelineError, WantsRowsWithValuesWhereLayersHaveThem) {
  expect_error(instead_of("second]}", "second], input: 8}"), "`input` of a model with values", "remove `input`");
  expect_error(instead_of("[first, second]", "[sizes]"), "layers with `gives`, and batches with values", "give the number of elements per row");
  expect_error(instead_of("[first, second]", "[sizes], input: 8"), "loss `mse` of outputs without values", "`loss: sum`");
  expect_error(instead_of("sizes: [big]", "sizes: [big, fc2]"), "`fc2` gets rows without values from `big`",
               "only `meta` layers");
  expect_error(instead_of("fc2: {linear: [8, 2]}", "fc2: {linear: [8, 2], gives: 3}"), "`gives` of `fc2`, which is not `meta`",
               "follows from their shapes");
}

TEST(RpcPipelineError, WantsTheSpeedThatTrafficNeeds) {
  expect_error(instead_of("compute: 1ms", "traffic: 1MiB"), "`traffic` without the speed of a memory", "`memory_speed: 900GB/s`");
  expect_error(instead_of("compute: 1ms", "compute: 1ms, traffic: 1MiB"), "`traffic` beside `compute`", "give either");
}

TEST(RpcPipelineError, StandsAlone) {
  expect_error(instead_of("batch: 4\n", "batch: 4\nddp: {bucket_cap: 1MiB}\n"), "`rpc_pipeline` beside `ddp`",
               "this combination is not supported");
}

}  // namespace
}  // namespace pdsim::scenarios
