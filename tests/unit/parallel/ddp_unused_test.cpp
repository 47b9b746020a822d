// The outcomes of parameters that a rank does not use.
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

using Paths = std::function<std::string(Rank, int)>;

Status train(InGroup& in, const DdpOptions& options, int steps, const Paths& path) {
  auto wrapped = wrap(in, branched(), options);
  if (!wrapped.ok()) return wrapped.error();
  for (int step = 0; step < steps; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step, path(in.rank(), step)));
  return {};
}

std::string short_on_rank_one_in_step_one(Rank rank, int step) { return rank == 1 && step == 1 ? "short" : "full"; }
std::string short_in_step_one(Rank, int step) { return step == 1 ? "short" : "full"; }

TEST(DdpUnused, TheSameOnAllRanksEndsTheBackwardAndFailsTheNextForward) {
  const RunRecord two = run_ranks(2, [](InGroup& in) { return train(in, {}, 2, short_in_step_one); });
  const RunRecord three = run_ranks(2, [](InGroup& in) { return train(in, {}, 3, short_in_step_one); });
  for (int r = 0; r < 2; ++r) {
    const RankLog& returned = two.ranks[static_cast<std::size_t>(r)].log;
    EXPECT_EQ(returned.end, RankEnd::returned);
    const auto unfilled = notes_in<notes::BucketUnfilled>(returned);
    ASSERT_EQ(unfilled.size(), 1u);
    EXPECT_EQ(unfilled[0], (notes::BucketUnfilled{0, 4, 6, {"aux.weight", "aux.bias"}}));
    const RankLog& raised = three.ranks[static_cast<std::size_t>(r)].log;
    EXPECT_EQ(raised.end, RankEnd::raised);
    EXPECT_EQ(raised.error.code, Code::reduction_not_finished);
    EXPECT_EQ(raised.error.facts,
              (Facts{{"parameters", "aux.weight, aux.bias"}, {"indices", "2, 3"}, {"bucket", "0"}}));
    EXPECT_EQ(collectives(raised).back(), "broadcast rebuild sizes");  // nothing after the error, and no bucket
  }
}

TEST(DdpUnused, OneRankThatSkipsThenWaitsInABarrierIsADeadlock) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    PDSIM_TRY(train(in, {}, 2, short_on_rank_one_in_step_one));
    return wait(in.group.barrier());
  });
  EXPECT_TRUE(run.deadlocked);
  EXPECT_EQ(collectives(run.ranks[0].log).back(), "all_reduce bucket 0");
  EXPECT_EQ(collectives(run.ranks[1].log).back(), "barrier");
}

TEST(DdpUnused, OneRankThatSkipsRaisesAtItsNextForwardAndThePeerSeesItGo) {
  const RunRecord run = run_ranks(2, [](InGroup& in) { return train(in, {}, 3, short_on_rank_one_in_step_one); });
  EXPECT_FALSE(run.deadlocked);
  EXPECT_EQ(run.ranks[0].log.error.code, Code::peer_closed);
  EXPECT_EQ(run.ranks[1].log.error.code, Code::reduction_not_finished);
}

TEST(DdpUnused, OneLateParameterHoldsBackItsBucketAndAllBehind) {
  DdpOptions options;
  options.bucket_cap = Bytes{0};
  options.explicit_cap = true;
  const RunRecord run = run_ranks(1, [&](InGroup& in) { return train(in, options, 2, short_in_step_one); });
  const RankLog& log = run.ranks[0].log;
  std::vector<std::string> missing;
  for (const auto& unfilled : notes_in<notes::BucketUnfilled>(log))
    missing.insert(missing.end(), unfilled.missing.begin(), unfilled.missing.end());
  EXPECT_EQ(missing, (std::vector<std::string>{"aux.bias", "aux.weight"}));
  EXPECT_EQ(collectives(log).back(), "all_reduce bucket 1");  // head's two; trunk's buckets 4 and 5 are ready and wait
}

TEST(DdpUnused, FindingThemSharesTheGradientsOfTheRanksThatUsedThem) {
  DdpOptions options;
  options.find_unused_parameters = true;
  std::vector<std::vector<double>> gradients(2);
  const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, branched(), options);
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < 3; ++step)
      PDSIM_TRY(wrapped->training(in.rank()).step(step, short_on_rank_one_in_step_one(in.rank(), step)));
    PDSIM_TRY(wrapped->training(in.rank()).step(1, short_on_rank_one_in_step_one(in.rank(), 1)));
    gradients[static_cast<std::size_t>(in.rank())] = parameter(*wrapped->module, "aux.weight").grad().values();
    return {};
  });
  EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned) << run.ranks[0].log.error.message;
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_FALSE(gradients[0].empty());
}

// A parameter used only inside no_sync keeps local gradients in 1.13, and is averaged in recent versions.
TEST(DdpUnused, AUseInsideNoSyncCountsSinceTwoPointFour) {
  for (const bool counts : {false, true}) {
    DdpOptions options;
    options.find_unused_parameters = true;
    options.profile.used_map_kept_under_no_sync = counts;
    std::vector<std::vector<double>> gradients(2);
    const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
      auto wrapped = wrap(in, branched(), options);
      if (!wrapped.ok()) return wrapped.error();
      Training training = wrapped->training(in.rank());
      for (const char* path : {"full", "short"}) {
        wrapped->ddp->set_require_backward_grad_sync(path == std::string_view("short"));
        const auto loss = training.loss(0, path);
        if (!loss.ok()) return loss.error();
        PDSIM_TRY(wrapped->ddp->backward(std::span(&*loss, 1)));
      }
      gradients[static_cast<std::size_t>(in.rank())] = parameter(*wrapped->module, "aux.weight").grad().values();
      return {};
    });
    EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned) << run.ranks[0].log.error.message;
    EXPECT_EQ(gradients[0] == gradients[1], counts);
  }
}

TEST(DdpUnused, AGloballyUnusedParameterKeepsNoGradient) {
  DdpOptions options;
  options.find_unused_parameters = true;
  std::vector<int> untouched(2);
  const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, branched(), options);
    if (!wrapped.ok()) return wrapped.error();
    PDSIM_TRY(wrapped->training(in.rank()).step(0, "short"));
    untouched[static_cast<std::size_t>(in.rank())] = parameter(*wrapped->module, "aux.weight").grad().defined() ? 0 : 1;
    return wrapped->training(in.rank()).step(1, "short");
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  EXPECT_EQ(untouched, (std::vector<int>{1, 1}));
}

TEST(DdpUnused, ARankWithoutBackwardLaunchesNothing) {
  DdpOptions options;
  options.find_unused_parameters = true;
  const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, branched(), options);
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    if (in.rank() == 0) return training.step(0);
    PDSIM_TRY(training.loss(0).status());
    return wait(in.group.barrier());
  });
  EXPECT_TRUE(run.deadlocked);
  EXPECT_EQ(count(run.ranks[1].log, "bucket 0"), 0);
}

TEST(DdpUnused, AWronglyDetectedParameterIsMarkedTwice) {
  DdpOptions options;
  options.find_unused_parameters = true;
  const RunRecord run = run_ranks(1, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, branched(), options);
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    const auto full = training.loss(0, "full");
    const auto shorter = training.loss(1, "short");  // what is unused is decided by the last forward
    if (!full.ok() || !shorter.ok()) return full.ok() ? shorter.status() : full.status();
    const std::vector<nn::Tensor> both{*full, *shorter};
    return wrapped->ddp->backward(both);
  });
  const Error& error = run.ranks[0].log.error;
  EXPECT_EQ(error.code, Code::marked_ready_twice) << error.message;
  EXPECT_EQ(fact(error.facts, "parameter"), "aux.bias");
}

TEST(DdpUnused, StaticGraphRefusesAParameterThatTheFirstIterationDidNotUse) {
  DdpOptions options;
  options.static_graph = true;
  const RunRecord run = run_ranks(2, [&](InGroup& in) {
    return train(in, options, 2, [](Rank, int step) { return step == 0 ? "short" : "full"; });
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.error.code, Code::static_graph_changed);
}

TEST(DdpUnused, StaticGraphAcceptsTheSameUnusedParametersInEveryIteration) {
  DdpOptions options;
  options.static_graph = true;
  const RunRecord run =
      run_ranks(2, [&](InGroup& in) { return train(in, options, 4, [](Rank, int) { return "short"; }); });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

}  // namespace
}  // namespace pdsim
