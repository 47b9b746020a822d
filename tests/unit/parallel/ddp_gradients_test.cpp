// What DDP makes of gradients, parameters and buffers; its constructor's refusals.
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

Values all_gradients(nn::Module& module) {
  Values values;
  for (const nn::Tensor& p : module.parameters())
    for (const double v : p.grad().defined() ? p.grad().values() : Values{}) values.push_back(v);
  return values;
}

// Gradients per rank after `program` ran on the wrapped module.
std::vector<Values> gradients_after(int ranks, const nn::ModuleSpec& spec, const DdpOptions& options,
                                    const std::function<Status(Training&)>& program) {
  std::vector<Values> gradients(static_cast<std::size_t>(ranks));
  const RunRecord run = run_ranks(ranks, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, spec, options);
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    PDSIM_TRY(program(training));
    gradients[static_cast<std::size_t>(in.rank())] = all_gradients(*wrapped->module);
    return {};
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return gradients;
}

Values mean(const std::vector<Values>& of) {
  Values sum(of[0].size());
  for (const Values& v : of)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += v[i];
  for (double& s : sum) s /= static_cast<double>(of.size());
  return sum;
}

Status synchronised_step(Training& t) { return t.step(0); }
Status local_step(Training& t) {
  t.ddp.set_require_backward_grad_sync(false);
  return t.step(0);
}

TEST(DdpGradients, AreTheMeanOfTheRanksGradients) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto synced = gradients_after(ranks, mlp(), {}, synchronised_step);
    const auto local = gradients_after(ranks, mlp(), {}, local_step);
    for (const Values& v : synced) EXPECT_EQ(v, synced[0]);
    expect_near(synced[0], mean(local), 1e-6);
  }
}

TEST(DdpGradients, AsBucketViewsAreTheSameGradients) {
  DdpOptions views;
  views.gradient_as_bucket_view = true;
  const auto three_steps = [](Training& t) -> Status {
    for (int step = 0; step < 3; ++step) PDSIM_TRY(t.step(step));
    return {};
  };
  EXPECT_EQ(gradients_after(2, mlp(), views, three_steps), gradients_after(2, mlp(), {}, three_steps));
}

TEST(DdpGradients, AsBucketViewsShareTheMemoryOfTheBucket) {
  DdpOptions views;
  views.gradient_as_bucket_view = true;
  gradients_after(2, mlp(), views, [](Training& t) -> Status {
    PDSIM_TRY(t.step(0));
    const nn::Tensor weight = parameter(t.module, "fc1.weight").grad();
    const nn::Tensor bias = parameter(t.module, "fc1.bias").grad();
    EXPECT_EQ(weight.view().data + weight.view().bytes(), bias.view().data);
    return {};
  });
}

TEST(DdpGradients, AccumulatedUnderNoSyncAreReducedAsTheirSum) {
  const auto accumulate = [](bool synced_end) {
    return [synced_end](Training& t) -> Status {
      for (int micro = 0; micro < 3; ++micro) {
        t.ddp.set_require_backward_grad_sync(synced_end && micro == 2);
        const auto loss = t.loss(micro);
        if (!loss.ok()) return loss.error();
        PDSIM_TRY(t.ddp.backward(std::span(&*loss, 1)));
      }
      return {};
    };
  };
  const auto synced = gradients_after(3, mlp(), {}, accumulate(true));
  EXPECT_EQ(synced[0], synced[2]);
  expect_near(synced[0], mean(gradients_after(3, mlp(), {}, accumulate(false))), 1e-6);
}

TEST(DdpGradients, NoSyncIsReadInForwardOnly) {
  const auto synced = gradients_after(2, mlp(), {}, [](Training& t) -> Status {
    const auto loss = t.loss(0);
    if (!loss.ok()) return loss.error();
    t.ddp.set_require_backward_grad_sync(false);
    return t.ddp.backward(std::span(&*loss, 1));
  });
  EXPECT_EQ(synced[0], synced[1]);
  const auto local = gradients_after(2, mlp(), {}, [](Training& t) -> Status {
    t.ddp.set_require_backward_grad_sync(false);
    const auto loss = t.loss(0);
    if (!loss.ok()) return loss.error();
    t.ddp.set_require_backward_grad_sync(true);
    return t.ddp.backward(std::span(&*loss, 1));
  });
  EXPECT_NE(local[0], local[1]);
}

TEST(DdpConstructor, GivesEveryRankTheStateOfRankZero) {
  std::vector<Values> states(3);
  run_ranks(3, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, with_batchnorm());
    if (!wrapped.ok()) return wrapped.error();
    for (const nn::Tensor& p : wrapped->module->parameters()) {
      EXPECT_EQ(p.version(), 1u) << p.name();
      for (const double v : p.values()) states[static_cast<std::size_t>(in.rank())].push_back(v);
    }
    return {};
  });
  EXPECT_FALSE(states[0].empty());
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
}

TEST(DdpConstructor, RefusesAModuleWithNothingToTrain) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    nn::Module module(mlp(), Random(1));
    for (nn::Tensor& p : module.parameters()) p.set_requires_grad(false);
    return DistributedDataParallel::wrap(module, in.group, {}).status();
  });
  for (const RankResult& rank : run.ranks) {
    EXPECT_EQ(rank.log.error.code, Code::ddp_not_needed);
    EXPECT_TRUE(collectives(rank.log).empty());
  }
}

TEST(DdpConstructor, AnotherNumberOfParametersRaisesOnEveryRank) {
  const RunRecord run = run_ranks(3, [](InGroup& in) {
    nn::ModuleSpec spec = mlp();
    if (in.rank() == 1) spec.layers.pop_back();
    return wrap(in, spec).status();
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.error.code, Code::model_differs) << rank.log.rank;
}

TEST(DdpConstructor, AnotherShapeRaisesOnTheDeviatingRankOnly) {
  const RunRecord run = run_ranks(2, [](InGroup& in) {
    nn::ModuleSpec spec = mlp();
    if (in.rank() == 1) spec.layers[0].out = spec.layers[2].in = 7;
    return wrap(in, spec).status();
  });
  EXPECT_EQ(run.ranks[1].log.error.code, Code::model_differs);
  EXPECT_EQ(fact(run.ranks[1].log.error.facts, "parameter"), "fc1.weight");
  EXPECT_NE(run.ranks[0].log.error.code, Code::model_differs);
}

TEST(DdpBuffers, EverySynchronisedForwardWritesThemInPlaceOnEveryRankTheRootIncluded) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, with_batchnorm());
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < 3; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
    return {};
  });
  for (const RankResult& rank : run.ranks) {
    int writes = 0;
    for (const auto& written : notes_in<notes::TensorWritten>(rank.log))
      writes += written.broadcast && written.tensor == "norm.running_var" ? 1 : 0;
    EXPECT_EQ(writes, 3) << "rank " << rank.log.rank;
  }
}

TEST(DdpBuffers, TwoForwardsBeforeOneBackwardFailOnEveryRank) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, with_batchnorm());
    if (!wrapped.ok()) return wrapped.error();
    Training training = wrapped->training(in.rank());
    std::vector<nn::Tensor> losses;
    for (int k = 0; k < 2; ++k) {
      auto loss = training.loss(k);
      if (!loss.ok()) return loss.error();
      losses.push_back(*loss);
    }
    return wrapped->ddp->backward(losses);
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.error.code, Code::saved_tensor_modified);
}

}  // namespace
}  // namespace pdsim
