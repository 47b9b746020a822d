#include "tests/unit/sharded/sharded_world.h"

#include "core/group/init_process_group.h"

#include <gtest/gtest.h>

#include <utility>

namespace pdsim {

RunRecord run_sharded(const sim::WorldSpec& world,
                      const std::function<Status(RankEnvironment&, ProcessGroup&)>& program,
                      const sim::RunOptions& options) {
  auto record = sim::run(world, options, [&](RankEnvironment& env) -> ProgramResult {
    auto group = init_process_group(env);
    if (!group.ok()) return {group.error(), {}};
    return {program(env, *group), {}};
  });
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

std::vector<std::string> calls_of(const RankLog& log) {
  std::vector<std::string> texts;
  for (const Call& call : log.calls)
    if (call.layer == Layer::collective)
      texts.push_back(call.name + (call.purpose.empty() ? "" : " " + text_of(call.purpose)));
  return texts;
}

namespace {

Trained of_rank_0(int ranks, const std::function<Result<Trained>(ProcessGroup&)>& train) {
  Trained trained;
  sim::WorldSpec world;
  world.ranks_per_node = ranks;
  const RunRecord run = run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    const Result<Trained> mine = train(group);
    if (mine.ok() && env.rank == 0) trained = *mine;
    return mine.status();
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return trained;
}

}  // namespace

Trained trained_by_ddp(int ranks, int steps, const nn::OptimizerSpec& spec) {
  return of_rank_0(ranks, [&](ProcessGroup& group) { return train_by_ddp(group, steps, spec); });
}

Trained trained_sharded(int ranks, int steps, const nn::OptimizerSpec& spec, const ShardedOptions& options) {
  return of_rank_0(ranks, [&](ProcessGroup& group) { return train_sharded(group, steps, spec, options); });
}

}  // namespace pdsim
