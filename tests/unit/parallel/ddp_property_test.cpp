// Random models, worlds and unused parameters, from one seed each: a failing seed replays by itself.
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace pdsim {
namespace {

struct Drawn {
  int ranks = 2;
  nn::ModuleSpec spec;
  std::vector<std::vector<std::string>> taken;  // by step and rank: the path
  DdpOptions options;
};

// Layers of one width; every path leaves some of them out, never all.
Drawn draw(std::uint64_t seed) {
  Random random = Random(seed).stream("ddp property");
  Drawn d;
  d.ranks = 2 + static_cast<int>(random.below(3));
  const auto width = static_cast<std::int64_t>(1 + random.below(6));
  const std::size_t layers = 1 + random.below(5);
  d.spec.dtype = DType::f64;
  for (std::size_t l = 0; l < layers; ++l)
    d.spec.layers.push_back({"fc" + std::to_string(l), nn::LayerKind::linear, width, width});
  for (int p = 0; p < 4; ++p) {
    nn::PathSpec path{"path" + std::to_string(p), {}};
    for (const nn::LayerSpec& layer : d.spec.layers)
      if (random.below(3) > 0) path.layers.push_back(layer.name);
    if (path.layers.empty()) path.layers.push_back(d.spec.layers[random.below(layers)].name);
    d.spec.paths.push_back(path);
  }
  for (int step = 0; step < 3; ++step) {
    d.taken.emplace_back();
    for (int r = 0; r < d.ranks; ++r) d.taken.back().push_back("path" + std::to_string(random.below(4)));
  }
  d.options.find_unused_parameters = true;
  d.options.explicit_cap = true;
  d.options.bucket_cap = Bytes{static_cast<std::int64_t>(random.below(800))};
  d.options.gradient_as_bucket_view = random.below(2) == 1;
  return d;
}

using Gradient = std::optional<std::vector<double>>;
using Gradients = std::vector<std::vector<Gradient>>;  // by rank and parameter, of the last step

struct Outcome {
  Gradients gradients;
  RunRecord run;
};

Outcome train(const Drawn& d, bool synchronised) {
  Outcome outcome;
  outcome.gradients.resize(static_cast<std::size_t>(d.ranks));
  outcome.run = run_ranks(d.ranks, [&](InGroup& in) -> Status {
    auto wrapped = wrap(in, d.spec, d.options);
    if (!wrapped.ok()) return wrapped.error();
    wrapped->ddp->set_require_backward_grad_sync(synchronised);
    Training training = wrapped->training(in.rank());
    const auto r = static_cast<std::size_t>(in.rank());
    for (std::size_t step = 0; step < d.taken.size(); ++step)
      PDSIM_TRY(training.step(static_cast<int>(step), d.taken[step][r]));
    for (const nn::Tensor& p : wrapped->module->parameters())
      outcome.gradients[r].push_back(p.grad().defined() ? Gradient(p.grad().values()) : Gradient());
    return {};
  });
  for (const RankResult& rank : outcome.run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return outcome;
}

// The mean over all ranks, where an unused parameter counts as zero; nothing where no rank used it.
Gradient mean_of(const Gradients& local, std::size_t parameter) {
  Gradient mean;
  for (const auto& rank : local) {
    const Gradient& mine = rank[parameter];
    if (!mine) continue;
    if (!mean) mean.emplace(mine->size());
    for (std::size_t i = 0; i < mine->size(); ++i) (*mean)[i] += (*mine)[i] / static_cast<double>(local.size());
  }
  return mean;
}

TEST(DdpProperty, SynchronisedGradientsAreTheMeanOfTheLocalOnesOnEveryRank) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Drawn d = draw(seed);
    const Gradients synced = train(d, true).gradients;
    const Gradients local = train(d, false).gradients;
    for (std::size_t p = 0; p < synced[0].size(); ++p) {
      const Gradient want = mean_of(local, p);
      for (const auto& rank : synced) {
        ASSERT_EQ(rank[p], synced[0][p]) << "seed " << seed << ", parameter " << p;
        ASSERT_EQ(rank[p].has_value(), want.has_value()) << "seed " << seed << ", parameter " << p;
        for (std::size_t i = 0; want && i < want->size(); ++i)
          ASSERT_NEAR((*rank[p])[i], (*want)[i], 1e-12 * std::max(1.0, std::abs((*want)[i]))) << "seed " << seed;
      }
    }
  }
}

TEST(DdpProperty, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const Drawn d = draw(seed);
    const Outcome first = train(d, true);
    const Outcome second = train(d, true);
    EXPECT_EQ(first.gradients, second.gradients) << "seed " << seed;
    EXPECT_EQ(first.run.fingerprint, second.run.fingerprint) << "seed " << seed;
    for (std::size_t r = 0; r < first.run.ranks.size(); ++r)
      EXPECT_EQ(collectives(first.run.ranks[r].log), collectives(second.run.ranks[r].log)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pdsim
