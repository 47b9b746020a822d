// The collectives of DDP in their order, as the flight records have them.
#include "tests/unit/parallel/ddp_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

Status train(InGroup& in, const nn::ModuleSpec& spec, const DdpOptions& options, int steps) {
  auto wrapped = wrap(in, spec, options);
  if (!wrapped.ok()) return wrapped.error();
  for (int step = 0; step < steps; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
  return {};
}

void expect_on_all_ranks(const RunRecord& run, const Texts& sequence) {
  EXPECT_FALSE(run.deadlocked);
  for (const RankResult& rank : run.ranks) {
    EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    EXPECT_EQ(collectives(rank.log), sequence) << "rank " << rank.log.rank;
  }
}

RunRecord train_on(int ranks, const nn::ModuleSpec& spec, const DdpOptions& options, int steps) {
  return run_ranks(ranks, [&](InGroup& in) { return train(in, spec, options, steps); });
}

TEST(DdpSequence, ConstructionIsACountTheSizesAndOneBroadcastOfTheState) {
  for (const int ranks : {1, 2, 3, 4}) expect_on_all_ranks(train_on(ranks, mlp(), {}, 0), construction);
}

TEST(DdpSequence, SecondForwardRebuildsOnce) {
  const Texts bucket{"all_reduce bucket 0"};
  expect_on_all_ranks(train_on(2, mlp(), {}, 3), construction + bucket + rebuild + bucket + bucket);
}

TEST(DdpSequence, WithASmallCapTheFirstIterationHasOneBucketAndTheNextHaveMany) {
  DdpOptions options;
  options.bucket_cap = Bytes{0};
  options.explicit_cap = true;
  const Texts one{"all_reduce bucket 0"};
  const Texts four{"all_reduce bucket 0", "all_reduce bucket 1", "all_reduce bucket 2", "all_reduce bucket 3"};
  const RunRecord run = train_on(3, mlp(), options, 3);
  expect_on_all_ranks(run, construction + one + rebuild + four + four);
  Texts parameters;
  for (const auto& layout : notes_in<notes::BucketLayout>(run.ranks[1].log))
    parameters.push_back(fmt::format("{}", fmt::join(layout.parameters, ", ")));
  EXPECT_EQ(parameters,
            (Texts{"fc1.weight, fc1.bias, fc2.weight, fc2.bias", "fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight"}));
}

TEST(DdpSequence, LookingForUnusedParametersNeverRebuildsAndSendsTheUsedMapLast) {
  DdpOptions options;
  options.find_unused_parameters = true;
  options.bucket_cap = Bytes{0};
  options.explicit_cap = true;
  const Texts step{"all_reduce bucket 0", "all_reduce bucket 1", "all_reduce bucket 2", "all_reduce bucket 3",
                   "all_reduce used map"};
  expect_on_all_ranks(train_on(2, mlp(), options, 2), construction + step + step);
}

TEST(DdpSequence, StaticGraphSendsTheUsedMapFirstAndRebuildsInTheThirdForward) {
  DdpOptions options;
  options.static_graph = true;
  const Texts bucket{"all_reduce bucket 0"};
  expect_on_all_ranks(train_on(2, mlp(), options, 4),
                      construction + Texts{"all_reduce used map"} + bucket + bucket + rebuild + bucket + bucket);
}

TEST(DdpSequence, BuffersAreBroadcastBeforeTheModuleRunsAndAfterTheRebuild) {
  const RunRecord run = train_on(2, with_batchnorm(), {}, 2);
  for (const RankResult& rank : run.ranks) {
    const Texts got = collectives(rank.log);
    const auto at = std::find(got.begin(), got.end(), rebuild[0]);
    ASSERT_LT(at + 2, got.end());
    EXPECT_EQ(*(at + 1), rebuild[1]);
    EXPECT_EQ(*(at + 2), "broadcast buffers");
  }
}

// The measured counts: 1, 1, then 1 for the first forward without gradients, 0, 0 for the next training one, 1.
TEST(DdpSequence, BufferBroadcastsFollowTheForwardBefore) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, with_batchnorm());
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    const nn::ForwardMode eval{false, false};
    for (const bool trains : {true, true, false, false, true, true}) {
      in.world.recorder.note(notes::ModelUsed{"forward"});
      if (trains) {
        PDSIM_TRY(training.step(0));
      } else {
        PDSIM_TRY(training.loss(0, "full", eval).status());
      }
    }
    return {};
  });
  for (const RankResult& rank : run.ranks) {
    ASSERT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    std::vector<int> syncs;
    for (const Note& note : rank.log.notes) {
      if (note.is<notes::ModelUsed>()) syncs.push_back(0);
      if (!note.is<notes::TensorWritten>()) continue;
      const auto& written = note.as<notes::TensorWritten>();
      if (written.broadcast && written.tensor == "norm.running_mean") ++syncs.back();
    }
    EXPECT_EQ(syncs, (std::vector<int>{1, 1, 1, 0, 0, 1})) << "rank " << rank.log.rank;
  }
}

TEST(DdpSequence, BroadcastBuffersOffSendsNone) {
  DdpOptions options;
  options.broadcast_buffers = false;
  const RunRecord run = train_on(2, with_batchnorm(), options, 3);
  for (const RankResult& rank : run.ranks) EXPECT_EQ(count(rank.log, "buffers"), 0);
}

TEST(DdpSequence, RankZerosLayoutWins) {
  nn::ModuleSpec spec;
  spec.layers = {{"a", nn::LayerKind::linear, 3, 3}, {"b", nn::LayerKind::linear, 3, 3}};
  spec.paths = {{"ab", {"a", "b"}}, {"ba", {"b", "a"}}};
  DdpOptions options;
  options.bucket_cap = Bytes{0};
  options.explicit_cap = true;
  const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, spec, options);
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < 2; ++step)
      PDSIM_TRY(wrapped->training(in.rank()).step(step, in.rank() == 0 ? "ab" : "ba"));
    return {};
  });
  for (const RankResult& rank : run.ranks) {
    ASSERT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    Texts rebuilt;
    for (const auto& layout : notes_in<notes::BucketLayout>(rank.log))
      if (layout.phase == notes::LayoutPhase::rebuilt)
        rebuilt.insert(rebuilt.end(), layout.parameters.begin(), layout.parameters.end());
    EXPECT_EQ(rebuilt, (Texts{"b.bias", "b.weight", "a.bias", "a.weight"})) << "rank " << rank.log.rank;
  }
}

}  // namespace
}  // namespace pdsim
