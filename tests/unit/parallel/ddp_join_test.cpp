// join(): ranks with different numbers of inputs.
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

const Texts one_step{"all_reduce active ranks", "all_reduce backward sync", "all_reduce bucket 0"};
const Texts end{"all_reduce active ranks", "all_reduce last rank", "broadcast parameters"};

struct Uneven {
  std::vector<int> steps;  // by rank
  nn::ModuleSpec module = mlp();
  DdpOptions options{};
  JoinContext context{};
};

// Runs every rank's steps inside join; `seen` is called after each step with the rank's training.
RunRecord train(const Uneven& uneven, const std::function<void(Training&, int step)>& seen = {}) {
  return run_ranks(static_cast<int>(uneven.steps.size()), [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, uneven.module, uneven.options);
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    wrapped->ddp->enter_join(uneven.context);
    for (int step = 0; step < uneven.steps[static_cast<std::size_t>(in.rank())]; ++step) {
      PDSIM_TRY(training.step(step));
      if (seen) seen(training, step);
    }
    return wrapped->ddp->leave_join();
  });
}

void expect_all_returned(const RunRecord& run) {
  EXPECT_FALSE(run.deadlocked);
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

TEST(DdpJoin, ARankWithoutInputsMakesTheSameCalls) {
  const RunRecord run = train({{3, 1, 2}});
  expect_all_returned(run);
  const Texts active{"all_reduce active ranks"}, rest{"all_reduce backward sync", "all_reduce bucket 0"};
  for (const RankResult& rank : run.ranks)
    EXPECT_EQ(collectives(rank.log), construction + one_step + active + rebuild + rest + one_step + end)
        << "rank " << rank.log.rank;
}

TEST(DdpJoin, ARankThatNeverHadInputsFollowsTheRebuildToo) {
  for (const Uneven& uneven : {Uneven{{3, 0}}, Uneven{{0, 3}}}) {
    const RunRecord run = train(uneven);
    expect_all_returned(run);
    EXPECT_EQ(collectives(run.ranks[0].log), collectives(run.ranks[1].log));
    EXPECT_EQ(count(run.ranks[0].log, "rebuild order"), 1);
  }
}

TEST(DdpJoin, EveryPatternOfInputsEndsOnThreeRanks) {
  for (int code = 0; code < 64; ++code) {
    Uneven uneven{{code % 4, code / 4 % 4, code / 16}, code % 5 < 2 ? mlp() : with_batchnorm()};
    uneven.options.find_unused_parameters = code % 2 == 1;
    uneven.options.gradient_as_bucket_view = code % 3 == 1;
    const RunRecord run = train(uneven);
    expect_all_returned(run);
    EXPECT_EQ(collectives(run.ranks[0].log), collectives(run.ranks[1].log)) << code;
    EXPECT_EQ(collectives(run.ranks[0].log), collectives(run.ranks[2].log)) << code;
  }
}

// The gradient of fc1.bias after the last step of rank 0, which is alone then.
Values last_gradient_of_rank_zero(bool by_initial_world_size) {
  Uneven uneven{{3, 1, 1}};
  uneven.context.divide_by_initial_world_size = by_initial_world_size;
  Values last;
  expect_all_returned(train(uneven, [&](Training& t, int step) {
    if (t.rank == 0 && step == 2) last = parameter(t.module, "fc1.bias").grad().values();
  }));
  return last;
}

TEST(DdpJoin, DividesByTheWorldSizeOrByTheRanksThatHaveInputs) {
  const Values by_three = last_gradient_of_rank_zero(true);
  const Values by_one = last_gradient_of_rank_zero(false);
  ASSERT_EQ(by_three.size(), by_one.size());
  for (std::size_t i = 0; i < by_one.size(); ++i) EXPECT_NEAR(by_three[i], by_one[i] / 3.0, 1e-7);
  EXPECT_TRUE(std::any_of(by_one.begin(), by_one.end(), [](double v) { return v != 0.0; }));
}

TEST(DdpJoin, EveryRankEndsWithTheModelOfTheOneThatEndedLast) {
  Uneven uneven{{1, 3, 3, 2}};
  std::vector<Values> ends(4);
  expect_all_returned(run_ranks(4, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, mlp());
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    wrapped->ddp->enter_join({});
    for (int step = 0; step < uneven.steps[static_cast<std::size_t>(in.rank())]; ++step) PDSIM_TRY(training.step(step));
    nn::Tensor bias = parameter(*wrapped->module, "fc1.bias");
    bias.fill_(10.0 + in.rank());  // so that whose model it is can be seen
    PDSIM_TRY(wrapped->ddp->leave_join());
    ends[static_cast<std::size_t>(in.rank())] = bias.values();
    return {};
  }));
  for (const Values& values : ends) EXPECT_EQ(values, Values(5, 12.0));  // ranks 1 and 2 ended last
}

TEST(DdpJoin, BuffersComeFromTheHighestRankThatHasInputs) {
  const RunRecord run = train({{2, 2, 1}, with_batchnorm()});
  expect_all_returned(run);
  std::vector<Rank> roots;
  for (const Call& call : run.ranks[2].log.calls)
    if (call.purpose.kind == PurposeKind::buffers) roots.push_back(call.root);
  // one for the floats and one for the counter
  EXPECT_EQ(roots, (std::vector<Rank>{2, 2, 1, 1}));
}

TEST(DdpJoin, BackwardsWithoutSynchronisationAreNotShadowed) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, mlp());
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    wrapped->ddp->enter_join({});
    for (int step = 0; step < (in.rank() == 0 ? 4 : 2); ++step) {
      wrapped->ddp->set_require_backward_grad_sync(step % 2 == 1);
      PDSIM_TRY(training.step(step));
    }
    return wrapped->ddp->leave_join();
  });
  expect_all_returned(run);
  EXPECT_EQ(collectives(run.ranks[0].log), collectives(run.ranks[1].log));
  EXPECT_EQ(count(run.ranks[1].log, "bucket 0"), 2);
  EXPECT_EQ(count(run.ranks[1].log, "backward sync"), 4);
}

TEST(DdpJoin, ToldToThrowEveryRankRaisesAndNamesWhoIsExhausted) {
  Uneven uneven{{3, 2, 3}};
  uneven.context.throw_on_early_termination = true;
  const RunRecord run = train(uneven);
  EXPECT_FALSE(run.deadlocked);
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.error.code, Code::inputs_exhausted) << rank.log.rank;
  EXPECT_EQ(fact(run.ranks[1].log.error.facts, "rank"), "1");
  EXPECT_EQ(fact(run.ranks[0].log.error.facts, "ended"), "1");
}

TEST(DdpJoin, ToldToThrowEvenInputsEndInOrder) {
  Uneven uneven{{2, 2}};
  uneven.context.throw_on_early_termination = true;
  const RunRecord run = train(uneven);
  expect_all_returned(run);
  EXPECT_EQ(count(run.ranks[0].log, "early termination"), 2);
}

TEST(DdpJoin, ForwardsBehindTheContextStillTellThatTheyHaveInputs) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, mlp());
    if (!wrapped.ok()) return wrapped.error();
    wrapped->ddp->enter_join({});
    PDSIM_TRY(wrapped->ddp->leave_join());
    return wrapped->training(in.rank()).step(0);
  });
  expect_all_returned(run);
  EXPECT_EQ(collectives(run.ranks[0].log), construction + end + one_step);
}

TEST(DdpGradientsSynchronised, IsFalseAfterABackwardThatOnlyThisRankKnowsOf) {
  run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, mlp());
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    EXPECT_TRUE(wrapped->ddp->gradients_synchronised());
    wrapped->ddp->set_require_backward_grad_sync(false);
    PDSIM_TRY(training.step(0));
    wrapped->ddp->set_require_backward_grad_sync(true);
    EXPECT_FALSE(wrapped->ddp->gradients_synchronised());
    PDSIM_TRY(training.step(1));
    EXPECT_TRUE(wrapped->ddp->gradients_synchronised());
    return {};
  });
}

}  // namespace
}  // namespace pdsim
