// Distributed autograd and its optimizer, beside one process and beside what was recorded from PyTorch 1.13.

#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/rpc/autograd/optimizer.h"
#include "core/rpc/pipeline/remote_pipeline.h"
#include "core/rpc/pipeline/shard.h"
#include "tests/oracle/directory.h"
#include "tests/unit/rpc/rpc_world.h"

#include <nlohmann/json.hpp>

#include <array>
#include <fstream>

namespace pdsim {
namespace {

using namespace literals;
using nlohmann::json;
using nn::Tensor;

const json& recording(const std::string& name) {
  static const json file = json::parse(std::ifstream(oracle::directory() + "/rpc_1_13.json"));
  for (const json& run : file["runs"])
    if (run["name"] == name) return run["ranks"][0]["log"];
  return file;
}

std::vector<double> flat(const json& value) {
  if (value.is_number()) return {value.get<double>()};
  std::vector<double> all;
  for (const json& part : value) {
    const std::vector<double> more = flat(part);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<double> recorded(const std::string& run, const std::string& what) {
  for (const json& entry : recording(run))
    if (entry.is_object() && entry["what"] == what) return flat(entry["value"]);
  ADD_FAILURE() << "nothing recorded as " << what;
  return {};
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-12 * (1 + std::abs(wanted[i]))) << what;
}

Tensor leaf(const std::vector<double>& values, nn::Shape shape) {
  Tensor t = Tensor::from(values, std::move(shape), DType::f64);
  t.set_requires_grad(true);
  return t;
}

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b, bool transpose_a,
                          bool transpose_b) {
  std::vector<double> product(9);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        product[3 * i + j] += a[transpose_a ? 3 * k + i : 3 * i + k] * b[transpose_b ? 3 * j + k : 3 * k + j];
  return product;
}

// Of matrices of 3 by 3.
Tensor matmul(const Tensor& a, const Tensor& b) {
  Tensor product = Tensor::from(times(a.values(), b.values(), false, false), {3, 3}, DType::f64);
  if (!nn::tracked({a, b})) return product;
  const auto rule = [](const Tensor& g, const std::vector<Tensor>& saved) {
    return std::vector<Tensor>{Tensor::from(times(g.values(), saved[1].values(), false, true), {3, 3}, DType::f64),
                               Tensor::from(times(saved[0].values(), g.values(), true, false), {3, 3}, DType::f64)};
  };
  nn::record(nn::make_function("MmBackward", {nn::SavedTensor(a), nn::SavedTensor(b)}, rule), {a, b}, product);
  return product;
}

RpcFunctions with_add(RankEnvironment&) {
  RpcFunctions functions;
  functions.add("add(a, b)", [](const Tensor& a, const Tensor& b) -> Result<RpcValue> {
    const Result<Tensor> sum = nn::add(a, b);
    if (!sum.ok()) return sum.error();
    return RpcValue(*sum);
  });
  return functions;
}

// Runs `program` at worker 0 of a world whose others only serve.
void at_worker0(int ranks, const std::function<RpcFunctions(RankEnvironment&)>& functions,
                const std::function<Status(Rpc&)>& program) {
  const RunRecord run = run_rpc(world_of(ranks), functions, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    return env.rank == 0 ? program(rpc) : Status();
  });
  EXPECT_TRUE(all_returned(run));
}

std::vector<double> gradient(Rpc& rpc, std::int64_t context, const Tensor& of) {
  Result<Gradients> all = rpc.get_gradients(context);
  const Tensor* found = all.ok() ? gradient_of(*all, of) : nullptr;
  return found != nullptr ? found->values() : std::vector<double>();
}

// t3 = add(t1, t2) at worker 1; loss = (t3 * 2).sum()
Result<Tensor> loss_of_the_note(Rpc& rpc, const Tensor& t1, const Tensor& t2, double factor) {
  const Result<RpcValue> t3 = rpc.rpc_sync("worker1", "add", {t1, t2});
  if (!t3.ok()) return t3.error();
  const Result<Tensor> t5 = nn::mul(t3->as<Tensor>(), Tensor::from(std::vector<double>(4, factor), {2, 2}, DType::f64));
  if (!t5.ok()) return t5.error();
  return nn::sum(*t5);
}

TEST(DistributedAutograd, TheExampleOfThePublishedNote) {
  at_worker0(2, with_add, [](Rpc& rpc) -> Status {
    const Tensor t1 = leaf({1, 2, 3, 4}, {2, 2}), t2 = leaf({5, 6, 7, 8}, {2, 2});
    auto context = DistributedContext::begin(rpc);
    if (!context.ok()) return context.error();
    const std::int64_t id = (*context)->id();
    const Result<Tensor> loss = loss_of_the_note((*context)->rpc(), t1, t2, 2);
    if (!loss.ok()) return loss.error();
    PDSIM_TRY(rpc.backward(id, std::span(&*loss, 1)));
    EXPECT_EQ(gradient(rpc, id, t1), recorded("autograd_note", "t1"));
    EXPECT_EQ(gradient(rpc, id, t2), recorded("autograd_note", "t2"));
    EXPECT_FALSE(t1.grad().defined());
    EXPECT_TRUE(
        rpc.backward(id, std::span(&*loss, 1)).error().message.starts_with("Error on Node 0: "));  // a second time
    EXPECT_EQ(rpc.backward(12345, std::span(&*loss, 1)).error().message,
              "Could not find autograd context with id: 12345");
    context->reset();
    EXPECT_EQ(rpc.get_gradients(id).error().message, "Could not find autograd context with id: 0");
    return {};
  });
}

TEST(DistributedAutograd, RefusesRootsAndContextsInTheRecordedWords) {
  at_worker0(2, with_add, [](Rpc& rpc) -> Status {
    auto context = DistributedContext::begin(rpc);
    const std::int64_t id = (*context)->id();
    const Tensor t1 = leaf({1, 2, 3, 4}, {2, 2}), plain = Tensor::from({1}, {1});
    EXPECT_EQ(rpc.backward(id, std::span(&t1, 1)).error().message, " is not a scalar, all roots need to be scalar");
    EXPECT_EQ(rpc.backward(id, std::span(&plain, 1)).error().message, "requires_grad not set on root");
    EXPECT_EQ(rpc.get_gradients(id)->size(), 0U);
    EXPECT_EQ(DistributedContext::begin((*context)->rpc()).error().message,
              "Already have an autograd context id for this thread.");
    return {};
  });
}

TEST(DistributedAutograd, ContextsThatLiveAtOnceDoNotMeet) {
  at_worker0(2, with_add, [](Rpc& rpc) -> Status {
    const Tensor t1 = leaf({1, 2, 3, 4}, {2, 2}), t2 = leaf({5, 6, 7, 8}, {2, 2});
    std::vector<std::unique_ptr<DistributedContext>> contexts;
    std::vector<Tensor> losses;
    for (const double factor : {1.0, 2.0, 3.0}) {
      contexts.push_back(DistributedContext::begin(rpc).value());
      losses.push_back(*loss_of_the_note(contexts.back()->rpc(), t1, t2, factor));
    }
    for (const std::size_t i : {2U, 0U, 1U}) PDSIM_TRY(rpc.backward(contexts[i]->id(), std::span(&losses[i], 1)));
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(gradient(rpc, contexts[i]->id(), t1), std::vector<double>(4, static_cast<double>(i + 1)));
    return {};
  });
}

TEST(DistributedAutograd, CallsOutsideOfAContextAreNotRecorded) {
  at_worker0(2, with_add, [](Rpc& rpc) -> Status {
    const Tensor t1 = leaf({1, 2, 3, 4}, {2, 2}), t2 = leaf({5, 6, 7, 8}, {2, 2});
    auto context = DistributedContext::begin(rpc);
    const Result<Tensor> loss = loss_of_the_note(rpc, t1, t2, 2);  // by the rpc outside
    if (!loss.ok()) return loss.error();
    PDSIM_TRY(rpc.backward((*context)->id(), std::span(&*loss, 1)));
    EXPECT_TRUE(gradient(rpc, (*context)->id(), t1).empty());
    return {};
  });
}

RpcFunctions with_weight(RankEnvironment&) {
  RpcFunctions functions;
  functions.add("weight(value)", [](double value) { return leaf({value}, {1}); });
  functions.add("scaled(x, weight)", [](Rpc& rpc, const Tensor& x, const RRef& weight) -> Result<RpcValue> {
    const Result<RpcValue> held = rpc.local_value(weight);
    if (!held.ok()) return held.error();
    return RpcValue(*nn::mul(x, held->as<Tensor>()));
  });
  functions.add("gradient(context, weight)", [](Rpc& rpc, std::int64_t context, const RRef& weight) {
    const std::vector<double> found = gradient(rpc, context, rpc.local_value(weight)->as<Tensor>());
    return found.empty() ? 0.0 : found[0];
  });
  return functions;
}

// Fast mode: every message is taken to get its gradient, and what waits for one that does not never runs.
TEST(DistributedAutograd, AResultThatTheLossDoesNotUseKeepsBackTheGradientsOfItsInputs) {
  at_worker0(2, with_weight, [](Rpc& rpc) -> Status {
    const RRef weight = *rpc.remote("worker1", "weight", {3.0});
    const Tensor x = leaf({2}, {1}), also = leaf({5}, {1});
    for (const bool uses_both : {true, false}) {
      const auto context = DistributedContext::begin(rpc).value();
      const Result<RpcValue> y = context->rpc().rpc_sync("worker1", "scaled", {x, weight});
      const Result<RpcValue> z = context->rpc().rpc_sync("worker1", "scaled", {also, weight});
      if (!y.ok() || !z.ok()) return y.ok() ? z.status() : y.status();
      const Tensor loss = *nn::sum(uses_both ? *nn::add(y->as<Tensor>(), z->as<Tensor>()) : y->as<Tensor>());
      PDSIM_TRY(rpc.backward(context->id(), std::span(&loss, 1)));
      EXPECT_EQ(gradient(rpc, context->id(), x), std::vector<double>{3});
      const Result<RpcValue> held = context->rpc().rpc_sync("worker1", "gradient", {context->id(), weight});
      EXPECT_EQ(held.ok() ? held->as<double>() : -1, uses_both ? 7 : 0);
    }
    return {};
  });
}

TEST(DistributedOptimizer, TwoOfThemInOneContextBothStep) {
  at_worker0(2, with_weight, [](Rpc& rpc) -> Status {
    const std::array weights{*rpc.remote("worker1", "weight", {3.0})};
    auto first = DistributedOptimizer::make(rpc, {nn::OptimizerSpec::Kind::sgd, .5}, weights);
    auto second = DistributedOptimizer::make(rpc, {nn::OptimizerSpec::Kind::sgd, .5}, weights);
    const auto context = DistributedContext::begin(rpc).value();
    const Result<RpcValue> y = context->rpc().rpc_sync("worker1", "scaled", {leaf({2}, {1}), weights[0]});
    if (!y.ok()) return y.error();
    const Tensor loss = *nn::sum(y->as<Tensor>());
    PDSIM_TRY(rpc.backward(context->id(), std::span(&loss, 1)));
    PDSIM_TRY(first->step(context->id()));
    PDSIM_TRY(second->step(context->id()));
    EXPECT_EQ(rpc.to_here(weights[0])->as<Tensor>().values(), std::vector<double>{3 - 2 * .5 * 2});
    return {};
  });
}

// a at worker 1, b at worker 2; three steps of each optimizer, one after the other, on the same parameters.
TEST(DistributedOptimizer, StepsAsRecorded) {
  const auto functions = [](RankEnvironment&) {
    RpcFunctions made;
    made.add("weight(values)", [](const Tensor& values) {
      Tensor weight = values.clone();
      weight.set_requires_grad(true);
      return weight;
    });
    return made;
  };
  at_worker0(3, functions, [](Rpc& rpc) -> Status {
    const auto initial = [](const char* what) { return Tensor::from(recorded("optimizer", what), {3, 3}, DType::f64); };
    const std::array weights{*rpc.remote("worker1", "weight", {initial("initial a")}),
                             *rpc.remote("worker2", "weight", {initial("initial b")})};
    using Kind = nn::OptimizerSpec::Kind;
    const std::vector<std::pair<std::string, nn::OptimizerSpec>> specs{
        {"sgd", {Kind::sgd, .05}}, {"momentum", {Kind::sgd, .05, .9}}, {"adam", {Kind::adam, .01}}};
    for (const auto& [name, spec] : specs) {
      Result<DistributedOptimizer> optimizer = DistributedOptimizer::make(rpc, spec, weights);
      if (!optimizer.ok()) return optimizer.error();
      for (int step = 0; step < 3; ++step) {
        const auto context = DistributedContext::begin(rpc).value();
        const Tensor x = Tensor::from(std::vector<double>(9, .5 + step), {3, 3}, DType::f64);
        const Tensor a = context->rpc().to_here(weights[0])->as<Tensor>(),
                     b = context->rpc().to_here(weights[1])->as<Tensor>();
        const Tensor y = matmul(matmul(x, a), b);
        const Tensor loss = *nn::sum(*nn::mul(y, y));
        PDSIM_TRY(rpc.backward(context->id(), std::span(&loss, 1)));
        PDSIM_TRY(optimizer->step(context->id()));
        expect_near(loss.values(), recorded("optimizer", name + " " + std::to_string(step) + " loss"), name);
      }
      expect_near(rpc.to_here(weights[0])->as<Tensor>().values(), recorded("optimizer", name + " a"), name);
      expect_near(rpc.to_here(weights[1])->as<Tensor>().values(), recorded("optimizer", name + " b"), name);
      EXPECT_EQ(optimizer->step(999).error().message, "Could not find autograd context with id: 999");
    }
    return {};
  });
}

// The recorded convolutional net in two shards.
nn::ModuleSpec shard_spec(int shard) {
  using nn::LayerKind;
  nn::LayerSpec conv1{"conv1", LayerKind::conv2d}, conv2{"conv2", LayerKind::conv2d};
  for (nn::LayerSpec* conv : {&conv1, &conv2}) {
    conv->channels = conv == &conv1 ? 2 : 3;
    conv->height = conv->width = 4;
    conv->in = conv->channels * 16;
    conv->out = 48;
    conv->filters = conv->kernel = 3;
    conv->padding = 1;
  }
  if (shard == 0)
    return {{conv1, {"relu1", LayerKind::relu}, conv2}, {{"all", {"conv1", "relu1", "conv2"}}}, DType::f64};
  return {
      {{"relu2", LayerKind::relu}, {"linear", LayerKind::linear, 48, 4}}, {{"all", {"relu2", "linear"}}}, DType::f64};
}

struct Shard {
  nn::Module module;
  explicit Shard(int shard) : module(shard_spec(shard), Random(1)) {
    const std::vector<double> initial = recorded("pipeline", "initial shard " + std::to_string(shard + 1));
    auto from = initial.begin();
    for (Tensor& parameter : module.parameters()) {
      const Tensor values = Tensor::from({from, from + parameter.numel()}, parameter.shape(), DType::f64);
      parameter.copy_(values.view());
      from += parameter.numel();
    }
  }
  std::vector<double> values() {
    std::vector<double> all;
    for (const Tensor& parameter : module.parameters()) {
      const std::vector<double> more = parameter.values();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
};

struct RemoteShard : Shard {
  PipelineShard served;
  RemoteShard(Runtime& runtime, int shard) : Shard(shard), served(runtime, module, module.path_named("all")->layers) {}
};

RpcFunctions with_shards(RankEnvironment& env) {
  RpcFunctions functions;
  add_shard_functions(functions, [&env](std::int64_t index) -> Result<std::shared_ptr<PipelineShard>> {
    const auto shard = std::make_shared<RemoteShard>(env.runtime, static_cast<int>(index));
    return std::shared_ptr<PipelineShard>(shard, &shard->served);
  });
  return functions;
}

struct Batch {
  std::vector<double> x, y;
};

Batch batch(int step) {
  for (const json& entry : recording("pipeline"))
    if (entry.is_object() && entry["what"] == "inputs")
      return {flat(entry["value"][static_cast<std::size_t>(step)][0]),
              flat(entry["value"][static_cast<std::size_t>(step)][1])};
  return {};
}

struct Trained {
  std::vector<double> losses, first, second;
};

Trained one_process() {
  Shard a(0), b(1);
  std::vector<Tensor> parameters = a.module.parameters();
  parameters.insert(parameters.end(), b.module.parameters().begin(), b.module.parameters().end());
  const auto optimizer = nn::Optimizer::make({nn::OptimizerSpec::Kind::sgd, .05}, parameters);
  Trained trained;
  for (int step = 0; step < 3; ++step) {
    const Batch data = batch(step);
    optimizer->zero_grad();
    const Tensor half = *a.module.forward(Tensor::from(data.x, {8, 32}, DType::f64), "all", {});
    const Tensor y = *b.module.forward(half, "all", {});
    const Tensor loss = *nn::mse_loss(y, Tensor::from(data.y, {8, 4}, DType::f64));
    EXPECT_TRUE(nn::BackwardPass().run(std::span(&loss, 1)).ok());
    optimizer->step();
    trained.losses.push_back(loss.values()[0]);
  }
  trained.first = a.values();
  trained.second = b.values();
  return trained;
}

Trained over_rpc(int parts) {
  Trained trained;
  at_worker0(3, with_shards, [&](Rpc& rpc) -> Status {
    const std::vector<std::string> workers{"worker1", "worker2"};
    const Result<RemotePipeline> pipeline = RemotePipeline::make(rpc, workers);
    if (!pipeline.ok()) return pipeline.error();
    const Result<std::vector<RRef>> parameters = pipeline->parameter_rrefs(rpc);
    if (!parameters.ok()) return parameters.error();
    Result<DistributedOptimizer> optimizer =
        DistributedOptimizer::make(rpc, {nn::OptimizerSpec::Kind::sgd, .05}, *parameters);
    if (!optimizer.ok()) return optimizer.error();
    for (int step = 0; step < 3; ++step) {
      const Batch data = batch(step);
      const auto loss_of = [&](const Tensor& y) { return nn::mse_loss(y, Tensor::from(data.y, {8, 4}, DType::f64)); };
      const Result<Tensor> loss =
          pipeline->step(rpc, *optimizer, Tensor::from(data.x, {8, 32}, DType::f64), 8 / parts, loss_of);
      if (!loss.ok()) return loss.error();
      trained.losses.push_back(loss->values()[0]);
    }
    for (const RRef& parameter : *parameters) {
      std::vector<double>& into = parameter.owner() == 1 ? trained.first : trained.second;
      const std::vector<double> values = rpc.to_here(parameter)->as<Tensor>().values();
      into.insert(into.end(), values.begin(), values.end());
    }
    return {};
  });
  return trained;
}

TEST(DistributedOptimizer, TrainsTheRecordedPipelineAsOneProcessDoes) {
  const Trained alone = one_process();
  expect_near(alone.losses, recorded("pipeline", "one process losses"), "one process");
  for (const int parts : {1, 2, 4}) {
    const Trained trained = over_rpc(parts);
    const std::string split = "split " + std::to_string(parts);
    expect_near(trained.losses, recorded("pipeline", split + " losses"), split);
    expect_near(trained.first, recorded("pipeline", split + " shard 1"), split);
    expect_near(trained.second, recorded("pipeline", split + " shard 2"), split);
    if (parts > 1) continue;
    EXPECT_EQ(trained.losses, alone.losses);  // bit for bit: nothing is added in another order
    EXPECT_EQ(trained.first, alone.first);
    EXPECT_EQ(trained.second, alone.second);
  }
}

}  // namespace
}  // namespace pdsim
