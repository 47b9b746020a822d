// Replays what PyTorch 1.13 and 2.14 with Gloo recorded of DDP training (tests/oracle/ddp, ddp_2_14) in the simulated world.
//
// Losses, gradients and states must agree to 1e-12 of the larger of one and the value: sums over ranks are taken in
// another order than Gloo's, and Eigen's products in another than oneMKL's. Errors, the presence of gradients and the
// logging data must agree exactly.
#include "core/nn/optimizer.h"
#include "core/semantics/profile.h"
#include "tests/oracle/directory.h"
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace pdsim {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

nn::ModuleSpec spec_of(const Json& c) {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  for (const Json& layer : c["layers"]) {
    const std::string kind = layer[1];
    nn::LayerSpec l;
    l.name = layer[0];
    l.kind = kind == "linear" ? nn::LayerKind::linear : kind == "relu" ? nn::LayerKind::relu : nn::LayerKind::batchnorm;
    if (layer.size() > 2) l.in = layer[2];
    if (layer.size() > 3) l.out = layer[3];
    spec.layers.push_back(l);
  }
  for (const auto& [name, layers] : c["paths"].items()) spec.paths.push_back({name, layers});
  return spec;
}

// A recorded version: where its cases lie, and what of it is not in our table of profiles.
struct Version {
  std::string_view folder, profile;
  bool zero_grad_keeps_zeros;  // set_to_none is the default since 2.0
};
constexpr std::array recorded_versions{Version{"/ddp", "pytorch-1.13", true},
                                       Version{"/ddp_2_14", "pytorch-2.14", false}};

DdpOptions options_of(const Json& c, const Version& version) {
  DdpOptions options;
  options.profile = profile_named(version.profile)->ddp;
  options.find_unused_parameters = c.value("find_unused_parameters", false);
  options.static_graph = c.value("static_graph", false);
  options.gradient_as_bucket_view = c.value("gradient_as_bucket_view", false);
  options.broadcast_buffers = c.value("broadcast_buffers", true);
  return options;
}

nn::OptimizerSpec optimizer_of(const Json& c) {
  nn::OptimizerSpec spec;
  spec.kind = c["optimizer"]["kind"] == "adam" ? nn::OptimizerSpec::Kind::adam : nn::OptimizerSpec::Kind::sgd;
  spec.lr = c["optimizer"]["lr"];
  spec.momentum = c["optimizer"].value("momentum", 0.0);
  return spec;
}

nn::Tensor matrix(const Json& rows) {
  Values values;
  for (const Json& row : rows)
    for (const Json& v : row) values.push_back(v);
  return nn::Tensor::from(values, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size())},
                          DType::f64);
}

// How one case went: what disagreed, and how much agreed to the bit.
struct Agreement {
  std::vector<std::string> differences;
  std::int64_t values = 0;
  std::int64_t to_the_bit = 0;

  void compare(const std::string& where, const Values& got, const Values& want) {
    if (got.size() != want.size()) return differences.push_back(where + ": another number of values");
    for (std::size_t i = 0; i < got.size(); ++i) {
      ++values;
      to_the_bit += got[i] == want[i] ? 1 : 0;
      if (!(std::abs(got[i] - want[i]) <= 1e-12 * std::max(1.0, std::abs(want[i]))))
        return differences.push_back(where + ": " + std::to_string(got[i]) + " for " + std::to_string(want[i]));
    }
  }
  void expect(bool holds, const std::string& what) {
    if (!holds) differences.push_back(what);
  }
};

std::vector<nn::Tensor> state_of(nn::Module& module) {
  std::vector<nn::Tensor> state = module.parameters();
  state.insert(state.end(), module.buffers().begin(), module.buffers().end());
  return state;
}

class Replay {
 public:
  Replay(const Json& recorded, const Version& version, Rank rank, Agreement& agreement)
      : case_(recorded),
        version_(version),
        rank_(rank),
        record_(recorded["ranks"][static_cast<std::size_t>(rank)]),
        found_(agreement) {}

  Status run(InGroup& in) {
    nn::Module module(spec_of(case_), Random(0));
    for (nn::Tensor& t : state_of(module)) {
      const Values before = record_["before_ddp"][t.name()];
      t.copy_(nn::Tensor::from(before, t.shape(), t.dtype()).view());
    }
    auto ddp = DistributedDataParallel::wrap(module, in.group, options_of(case_, version_));
    if (!ddp.ok()) return ddp.error();
    compare_state("after construction", module, record_["after_ddp"]);
    const auto optimizer = nn::Optimizer::make(optimizer_of(case_), module.parameters());
    for (std::size_t step = 0; step < record_["steps"].size(); ++step) {
      const Status status = run_step(step, module, **ddp);
      const Json& want = record_["steps"][step];
      const std::string at = "step " + std::to_string(step);
      found_.expect(status.ok() != want.contains("error"),
                    at + ": " + (status.ok() ? "no error" : status.error().message));
      if (!status.ok()) {
        found_.expect(status.error().code == Code::reduction_not_finished, at + ": another error");
        break;
      }
      if (!want.contains("grads")) break;
      for (const nn::Tensor& p : module.parameters()) compare_gradient(at, p, want["grads"]);
      optimizer->step();
      compare_state(at, module, want["state"]);
    }
    compare_logging((*ddp)->logging());
    return {};
  }

 private:
  Status run_step(std::size_t step, nn::Module& module, DistributedDataParallel& ddp) {
    for (nn::Tensor& p : module.parameters()) {
      if (!version_.zero_grad_keeps_zeros)
        p.set_grad({});
      else if (p.grad().defined())
        p.grad().fill_(0.0);
    }
    const std::size_t micros = case_.value("accumulate", std::size_t{1});
    const std::string key = std::to_string(rank_) + ":" + std::to_string(step);
    const std::string fallback = case_["default_path"];
    const std::string path = case_.contains("takes") ? case_["takes"].value(key, fallback) : fallback;
    Values losses;
    for (std::size_t micro = 0; micro < micros; ++micro) {
      ddp.set_require_backward_grad_sync(!case_.value("no_sync", false) || micro + 1 == micros);
      const auto r = static_cast<std::size_t>(rank_);
      const auto output = ddp.forward(matrix(case_["inputs"][step][r][micro]), path, {});
      if (!output.ok()) return output.error();
      auto loss = nn::mse_loss(*output, matrix(case_["targets"][step][r][micro]));
      if (loss.ok() && micros > 1) loss = nn::scale(*loss, 1.0 / static_cast<double>(micros));
      if (!loss.ok()) return loss.error();
      losses.push_back(loss->at(0));
      PDSIM_TRY(ddp.backward(std::span(&*loss, 1)));
    }
    found_.compare("losses of step " + std::to_string(step), losses, record_["steps"][step].value("losses", Values{}));
    return {};
  }

  void compare_gradient(const std::string& at, const nn::Tensor& p, const Json& want) {
    const bool recorded = want.contains(p.name()) && !want[p.name()].is_null();
    const std::string where = at + ", gradient of " + p.name();
    found_.expect(p.grad().defined() == recorded, where + ": defined on one side only");
    if (p.grad().defined() && recorded) found_.compare(where, p.grad().values(), want[p.name()]);
  }

  void compare_state(const std::string& at, nn::Module& module, const Json& want) {
    for (const nn::Tensor& t : state_of(module)) found_.compare(at + ", " + t.name(), t.values(), want[t.name()]);
  }

  // Every key that was recorded, to the letter.
  void compare_logging(const DdpLogging& log) {
    const std::map<std::string, std::string> ours = log.as_text();
    for (const auto& [key, value] : record_["logging"].items()) {
      const auto it = ours.find(key);
      found_.expect(it != ours.end() && it->second == value.get<std::string>(),
                    key + " is " + (it != ours.end() ? it->second : "missing"));
    }
  }

  const Json& case_;
  const Version& version_;
  Rank rank_;
  const Json& record_;
  Agreement& found_;
};

class DdpOracle : public testing::TestWithParam<Version> {};

TEST_P(DdpOracle, EveryRecordedCaseAgrees) {
  std::vector<std::filesystem::path> files;
  const std::string folder = oracle::directory() + std::string(GetParam().folder);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int matched = 0;
  int cases = 0;
  std::int64_t values = 0;
  std::int64_t to_the_bit = 0;
  for (const auto& file : files) {
    if (file.extension() != ".json") continue;
    const Json recorded = Json::parse(std::ifstream(file));
    std::vector<Agreement> found(recorded["world"].get<std::size_t>());
    const RunRecord run = run_ranks(recorded["world"], [&](InGroup& in) {
      return Replay(recorded, GetParam(), in.rank(), found[static_cast<std::size_t>(in.rank())]).run(in);
    });
    bool agrees = !run.deadlocked;
    Agreement of_case;
    for (const RankResult& rank : run.ranks) {
      const Agreement& a = found[static_cast<std::size_t>(rank.log.rank)];
      EXPECT_EQ(rank.log.end, RankEnd::returned) << file << ": " << rank.log.error.message;
      EXPECT_TRUE(a.differences.empty()) << file << " rank " << rank.log.rank << ": " << a.differences.front();
      agrees = agrees && rank.log.end == RankEnd::returned && a.differences.empty();
      of_case.values += a.values;
      of_case.to_the_bit += a.to_the_bit;
    }
    ++cases;
    matched += agrees ? 1 : 0;
    values += of_case.values;
    to_the_bit += of_case.to_the_bit;
    std::cout << file.filename().string() << ": " << (agrees ? "agrees" : "DIFFERS") << ", " << of_case.values
              << " values, " << of_case.to_the_bit << " to the bit\n";
  }
  std::cout << matched << " of " << cases << " recorded cases agree; " << to_the_bit << " of " << values
            << " values to the bit\n";
  EXPECT_EQ(matched, cases);
  EXPECT_GE(cases, 36);
}

INSTANTIATE_TEST_SUITE_P(Recorded, DdpOracle, testing::ValuesIn(recorded_versions),
                         [](const auto& version) { return std::string(version.param.folder.substr(1)); });

}  // namespace
}  // namespace pdsim
