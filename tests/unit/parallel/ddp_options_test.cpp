// SyncBatchNorm over ranks, parameters of several dtypes, reentrant recomputation, logging data, deprecated options.
#include "core/parallel/rank_exchange.h"
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

nn::ModuleSpec normalised(nn::LayerKind kind) {
  nn::ModuleSpec spec = with_batchnorm();
  spec.layers[1].kind = kind;
  spec.dtype = DType::f64;
  return spec;
}

// Rows of all ranks, two for rank 0 and three for each other.
Values rows_of(Rank rank) {
  Values values;
  for (int i = 0; i < (rank == 0 ? 6 : 9); ++i) values.push_back(0.5 * ((i * 7 + rank * 5) % 11) - 2.0);
  return values;
}

struct Normalised {
  Values output, weight_gradient, running_mean, running_var;
};

Status run_normalised(nn::Module& module, const Values& rows, double weight, Normalised& out) {
  const nn::Tensor input = nn::Tensor::from(rows, {static_cast<std::int64_t>(rows.size()) / 3, 3}, DType::f64);
  const auto output = module.forward(input, "", {});
  if (!output.ok()) return output.error();
  const auto loss = nn::scale(*nn::sum(*nn::mul(*output, *output)), weight);
  nn::BackwardPass pass;
  PDSIM_TRY(pass.run(std::span(&*loss, 1)));
  out = {output->values(), parameter(module, "fc1.weight").grad().values(),
         parameter(module, "norm.running_mean").values(), parameter(module, "norm.running_var").values()};
  return {};
}

TEST(SyncBatchNorm, IsBatchNormOverTheRowsOfAllRanks) {
  constexpr int ranks = 3;
  std::vector<Normalised> parts(ranks);
  const RunRecord run = run_ranks(ranks, [&](InGroup& in) {
    nn::Module module(normalised(nn::LayerKind::sync_batchnorm), Random(1));
    module.set_exchange(exchange_over(in.group));
    return run_normalised(module, rows_of(in.rank()), 1.0, parts[static_cast<std::size_t>(in.rank())]);
  });
  Values rows, outputs, gradient;
  for (Rank r = 0; r < ranks; ++r) {
    EXPECT_EQ(run.ranks[static_cast<std::size_t>(r)].log.end, RankEnd::returned);
    EXPECT_EQ(collectives(run.ranks[static_cast<std::size_t>(r)].log),
              (Texts{"all_gather batch statistics", "all_reduce batch gradients"}));
    const Normalised& part = parts[static_cast<std::size_t>(r)];
    for (const double v : rows_of(r)) rows.push_back(v);
    outputs.insert(outputs.end(), part.output.begin(), part.output.end());
    gradient.resize(part.weight_gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += part.weight_gradient[i];
  }
  nn::Module whole(normalised(nn::LayerKind::batchnorm), Random(1));
  Normalised together;
  ASSERT_TRUE(run_normalised(whole, rows, 1.0, together).ok());
  expect_near(outputs, together.output, 1e-9);
  expect_near(gradient, together.weight_gradient, 1e-9);
  for (const Normalised& part : parts) {
    expect_near(part.running_mean, together.running_mean, 1e-9);
    expect_near(part.running_var, together.running_var, 1e-9);
  }
}

TEST(SyncBatchNorm, AloneIsBatchNormAndInEvaluationAsksNobody) {
  nn::Module sync(normalised(nn::LayerKind::sync_batchnorm), Random(1));
  nn::Module plain(normalised(nn::LayerKind::batchnorm), Random(1));
  Normalised a, b;
  ASSERT_TRUE(run_normalised(sync, rows_of(1), 1.0, a).ok());
  ASSERT_TRUE(run_normalised(plain, rows_of(1), 1.0, b).ok());
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.weight_gradient, b.weight_gradient);
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    nn::Module module(normalised(nn::LayerKind::sync_batchnorm), Random(1));
    module.set_exchange(exchange_over(in.group));
    return module.forward(nn::Tensor::zeros({1, 3}, DType::f64), "", {false, true}).status();
  });
  EXPECT_TRUE(collectives(run.ranks[0].log).empty());
}

TEST(SyncBatchNorm, TakesOneRowPerRankWhereBatchNormNeedsTwo) {
  const RunRecord run = run_ranks(2, [](InGroup& in) -> Status {
    nn::Module module(normalised(nn::LayerKind::sync_batchnorm), Random(1));
    module.set_exchange(exchange_over(in.group));
    return module.forward(nn::Tensor::zeros({1, 3}, DType::f64), "", {}).status();
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

nn::ModuleSpec two_dtypes() {
  nn::ModuleSpec spec = mlp();
  spec.layers[2].dtype = DType::f64;
  return spec;
}

TEST(DdpDtypes, EachHasABucketAndABroadcastOfItsOwn) {
  DdpLogging log;
  const RunRecord run = run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, two_dtypes());
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < 2; ++step) {
      nn::Tensor input = nn::Tensor::from({1, 2, 3}, {1, 3});
      const auto out = wrapped->ddp->forward(input, "", {});
      if (!out.ok()) return out.error();
      const auto loss = nn::sum(*out);
      PDSIM_TRY(wrapped->ddp->backward(std::span(&*loss, 1)));
    }
    if (in.rank() == 0) log = wrapped->ddp->logging();
    return {};
  });
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  EXPECT_EQ(count(run.ranks[0].log, "parameters"), 2);
  EXPECT_EQ(count(run.ranks[0].log, "bucket 1"), 2);
  EXPECT_EQ(log.dtypes, "float, double");
  EXPECT_EQ(log.bucket_sizes, (std::vector<std::int64_t>{96, 80}));  // fc2 in f64, then fc1 in f32
}

nn::ModuleSpec recomputed_twice() {
  nn::ModuleSpec spec;
  spec.layers = {{"in", nn::LayerKind::linear, 3, 4}, {"a", nn::LayerKind::linear, 4, 4}};
  spec.paths = {{"full", {"in", "a", "a"}}};
  spec.recompute = {"a"};
  return spec;
}

RunRecord train_recomputed(const DdpOptions& options, int steps) {
  return run_ranks(2, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, recomputed_twice(), options);
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < steps; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
    return {};
  });
}

// As recorded from PyTorch 1.13: pitfall marked_ready_twice.
TEST(DdpRecompute, ALayerRunTwiceIsMarkedReadyTwiceUnlessTheGraphIsStatic) {
  for (const bool finds : {false, true}) {
    DdpOptions options;
    options.find_unused_parameters = finds;
    const RunRecord run = train_recomputed(options, 1);
    for (const RankResult& rank : run.ranks) {
      EXPECT_EQ(rank.log.error.code, Code::marked_ready_twice);
      EXPECT_EQ(fact(rank.log.error.facts, "parameter").substr(0, 2), "a.");
    }
  }
  DdpOptions fixed;
  fixed.static_graph = true;
  for (const RankResult& rank : train_recomputed(fixed, 4).ranks)
    EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

TEST(DdpLogging, HasPyTorchsKeys) {
  std::map<std::string, std::string> text;
  run_ranks(2, [&](InGroup& in) -> Status {
    DdpOptions options;
    options.bucket_cap = Bytes{0};
    options.explicit_cap = true;
    auto wrapped = wrap(in, mlp(), options);
    if (!wrapped.ok()) return wrapped.error();
    for (int step = 0; step < 3; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
    if (in.rank() == 1) text = wrapped->ddp->logging().as_text();
    return {};
  });
  EXPECT_EQ(text["world_size"], "2");
  EXPECT_EQ(text["rank"], "1");
  EXPECT_EQ(text["iteration"], "3");
  EXPECT_EQ(text["num_buckets_reduced"], "4");
  EXPECT_EQ(text["has_rebuilt_buckets"], "1");
  EXPECT_EQ(text["rebuilt_per_bucket_param_indices"], "3, 2, 1, 0");
  EXPECT_EQ(text["prev_iteration_grad_ready_order_indices"], "3, 2, 1, 0");
  EXPECT_EQ(text["bucket_sizes"], "128");
  EXPECT_EQ(text["rebuilt_bucket_sizes"], "8, 40, 20, 60");
  EXPECT_GT(std::stoll(text["backward_comm_time"]), 0);
  EXPECT_GE(std::stoll(text["avg_backward_comm_time"]), std::stoll(text["avg_backward_compute_comm_overlap_time"]));
}

TEST(DdpOptions, CheckReductionOnlyWarns) {
  const RunRecord run = run_ranks(1, [](InGroup& in) {
    DdpOptions options;
    options.check_reduction = true;
    return wrap(in, mlp(), options).status();
  });
  EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned);
  const auto warnings = notes_in<notes::Warning>(run.ranks[0].log);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].about, notes::WarningKind::check_reduction);
  EXPECT_NE(text_of(warnings[0]).find("deprecated"), std::string::npos);
}

}  // namespace
}  // namespace pdsim
