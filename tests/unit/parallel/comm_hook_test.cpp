// Communication hooks: what they make of gradients, and which calls they make.
#include "core/collectives/half.h"
#include "core/parallel/hooks/matrix.h"
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim {
namespace {

using Kind = CommHookSpec::Kind;

DdpOptions with(Kind kind) {
  DdpOptions options;
  options.comm_hook.kind = kind;
  return options;
}

// Two layers whose weights are large enough for PowerSGD to compress.
nn::ModuleSpec wide() {
  nn::ModuleSpec spec;
  spec.layers = {{"fc1", nn::LayerKind::linear, 12, 10}, {"fc2", nn::LayerKind::linear, 10, 9}};
  return spec;
}

struct Trained {
  RunRecord run;
  std::vector<Values> gradients;  // by rank: all of them after the last step
};

Trained train(int ranks, const nn::ModuleSpec& spec, const DdpOptions& options, int steps, bool local = false) {
  Trained trained{{}, std::vector<Values>(static_cast<std::size_t>(ranks))};
  trained.run = run_ranks(ranks, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, spec, options);
    if (!wrapped.ok()) return wrapped.error();
    wrapped->ddp->set_require_backward_grad_sync(!local);
    for (int step = 0; step < steps; ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
    for (const nn::Tensor& p : wrapped->module->parameters())
      for (const double v : p.grad().values()) trained.gradients[static_cast<std::size_t>(in.rank())].push_back(v);
    return {};
  });
  for (const RankResult& rank : trained.run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return trained;
}

TEST(CommHook, AllReduceGivesWhatDdpGivesInTheSameCalls) {
  for (const int ranks : {1, 2, 3}) {
    const Trained plain = train(ranks, mlp(), {}, 3);
    const Trained hooked = train(ranks, mlp(), with(Kind::allreduce), 3);
    EXPECT_EQ(collectives(plain.run.ranks[0].log), collectives(hooked.run.ranks[0].log));
    ASSERT_EQ(plain.gradients[0].size(), hooked.gradients[0].size());
    for (std::size_t i = 0; i < plain.gradients[0].size(); ++i)
      EXPECT_NEAR(plain.gradients[0][i], hooked.gradients[0][i], 1e-6) << i;  // one multiplies by 1/3, one divides by 3
  }
}

TEST(CommHook, CompressionRoundsEachRanksShareAndTheSum) {
  for (const Kind kind : {Kind::fp16_compress, Kind::bf16_compress}) {
    const bool f16 = kind == Kind::fp16_compress;
    const auto round = [f16](double v) {
      const auto single = static_cast<float>(v);
      return f16 ? from_f16(to_f16(single)) : from_bf16(to_bf16(single));
    };
    const Trained local = train(2, mlp(), {}, 1, true);
    const Trained hooked = train(2, mlp(), with(kind), 1);
    EXPECT_EQ(hooked.gradients[0], hooked.gradients[1]);
    for (std::size_t i = 0; i < hooked.gradients[0].size(); ++i) {
      const double share0 = round(round(local.gradients[0][i]) / 2.0F);
      const double share1 = round(round(local.gradients[1][i]) / 2.0F);
      EXPECT_EQ(hooked.gradients[0][i], round(share0 + share1)) << i;
    }
    for (const Call& call : hooked.run.ranks[0].log.calls)
      if (text_of(call.purpose) == "bucket 0") {
        EXPECT_EQ(call.dtype, f16 ? DType::f16 : DType::bf16);
      }
  }
}

DdpOptions powersgd(std::int64_t rank, std::int64_t start = 2) {
  DdpOptions options = with(Kind::powersgd);
  options.comm_hook.matrix_approximation_rank = rank;
  options.comm_hook.start_iter = start;
  return options;
}

TEST(PowerSgd, SendsPlainBucketsBeforeItsFirstIterationAndFactorsAfter) {
  const Trained trained = train(2, wide(), powersgd(1), 4);
  std::vector<std::pair<std::string, std::int64_t>> sent;
  for (const Call& call : trained.run.ranks[1].log.calls)
    if (call.name == "all_reduce") sent.emplace_back(text_of(call.purpose), call.count);
  const std::int64_t all = 120 + 10 + 90 + 9;
  // the biases travel whole; P has a row per output, Q a row per input
  EXPECT_EQ(sent, (decltype(sent){{"bucket 0", all},
                                  {"bucket 0", all},
                                  {"bucket 0", 19},
                                  {"bucket 0 P", 19},
                                  {"bucket 0 Q", 22},
                                  {"bucket 0", 19},
                                  {"bucket 0 P", 19},
                                  {"bucket 0 Q", 22}}));
}

TEST(PowerSgd, GivesEveryRankTheSameGradients) {
  DdpOptions options = powersgd(2);
  for (const bool feedback : {false, true})
    for (const bool warm : {false, true}) {
      options.comm_hook.use_error_feedback = feedback;
      options.comm_hook.warm_start = warm;
      const Trained trained = train(3, wide(), options, 5);
      EXPECT_EQ(trained.gradients[0], trained.gradients[1]);
      EXPECT_EQ(trained.gradients[0], trained.gradients[2]);
    }
}

// A linear layer's gradient of a batch of 4 has rank 4 at most, so rank 4 loses nothing on one rank.
TEST(PowerSgd, LosesNothingWhereTheRankSuffices) {
  DdpOptions options = powersgd(4);
  options.comm_hook.min_compression_rate = 0.5;
  options.comm_hook.use_error_feedback = false;
  const Trained exact = train(1, wide(), {}, 3);
  const Trained factored = train(1, wide(), options, 3);
  for (std::size_t i = 0; i < exact.gradients[0].size(); ++i)
    EXPECT_NEAR(exact.gradients[0][i], factored.gradients[0][i], 1e-5) << i;
}

double distance(const Values& a, const Values& b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

// The same gradients again and again: what one iteration loses, later ones bring.
TEST(PowerSgd, ErrorFeedbackMakesTheSumOfTheGradientsComeClose) {
  const auto sum_of_steps = [](const DdpOptions& options) {
    Values sum;
    run_ranks(2, [&](InGroup& in) -> Status {
      auto wrapped = wrap(in, wide(), options);
      if (!wrapped.ok()) return wrapped.error();
      for (int step = 0; step < 42; ++step) {
        PDSIM_TRY(wrapped->training(in.rank()).step(0));
        const Values g = parameter(*wrapped->module, "fc1.weight").grad().values();
        if (in.rank() != 0 || step < 2) continue;
        sum.resize(g.size());
        for (std::size_t i = 0; i < g.size(); ++i) sum[i] += g[i];
      }
      return {};
    });
    return sum;
  };
  DdpOptions options = powersgd(1);
  const Values exact = sum_of_steps({});
  const double with_feedback = distance(sum_of_steps(options), exact);
  options.comm_hook.use_error_feedback = false;
  options.comm_hook.warm_start = false;
  EXPECT_LT(with_feedback, 0.3 * distance(sum_of_steps(options), exact));
}

TEST(PowerSgd, RefusesAStartBeforeTheRebuild) {
  for (const std::int64_t start : {0, 1}) {
    DdpOptions options = powersgd(1, start);
    const RunRecord run = run_ranks(2, [&](InGroup& in) { return wrap(in, wide(), options).status(); });
    EXPECT_EQ(run.ranks[0].log.error.code, Code::invalid_argument);
    options.comm_hook.use_error_feedback = options.comm_hook.warm_start = false;
    train(2, wide(), options, 3);
  }
}

TEST(PowerSgd, WorksInJoinWithRanksThatHaveNoInputs) {
  const RunRecord run = run_ranks(3, [](InGroup& in) -> Status {
    auto wrapped = wrap(in, wide(), powersgd(1));
    if (!wrapped.ok()) return wrapped.error();
    wrapped->ddp->enter_join({});
    for (int step = 0; step < 3 + in.rank(); ++step) PDSIM_TRY(wrapped->training(in.rank()).step(step));
    return wrapped->ddp->leave_join();
  });
  EXPECT_FALSE(run.deadlocked);
  for (const RankResult& rank : run.ranks) {
    EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    EXPECT_EQ(collectives(rank.log), collectives(run.ranks[0].log));
  }
}

TEST(Orthogonalize, MakesColumnsOrthonormalAndLeavesZerosZero) {
  Matrix m{3, 2, {1, 1, 0, 1, 0, 0}};
  orthogonalize(m, 0.0);
  EXPECT_EQ(m.values, (Values{1, 0, 0, 1, 0, 0}));
  Matrix zero{2, 1, {0, 0}};
  orthogonalize(zero, 0.0);
  EXPECT_EQ(zero.values, (Values{0, 0}));
}

}  // namespace
}  // namespace pdsim
