// rpc_pipeline: the training loop of PyTorch's tutorial on pipelines over RPC: rank 0 drives shards of the model at the other ranks.
#include "core/rpc/pipeline/remote_pipeline.h"
#include "core/rpc/pipeline/shard.h"
#include "scenarios/language/costs.h"
#include "scenarios/program/batch.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

// The whole model on every rank, with the same first numbers; a worker trains the layers of its shard.
void make_shared_model(Session& s) {
  if (s.module != nullptr) return;
  nn::ModuleSpec spec = s.scenario.model.spec_of(s.env.rank, s.env.node);
  spec.sizes_have_memory = s.world == WorldKind::real;
  spec.timed_rows = s.scenario.batch;
  for (nn::LayerSpec& layer : spec.layers) {
    if (layer.forward_time) continue;
    layer.forward_time = costs::forward_per_layer;
    layer.backward_time = costs::backward_per_layer;
  }
  s.module = std::make_unique<nn::Module>(spec, Random(s.scenario.seed).stream("parameters", 0));
}

// The data that the master reads in one step.
struct PipelineBatch {
  nn::Tensor input;
  Batch rows;
  Widths widths;
};

Result<PipelineBatch> batch_of_step(Session& s, const RpcPipelineOptions& options) {
  PipelineBatch read;
  read.widths = {widths_of(*s.module, options.shards.front()).input,
                 widths_of(*s.module, options.shards.back()).output,
                 s.module->input_indices(options.shards.front())};
  if (options.input > 0) {
    read.input = nn::Tensor::meta({s.scenario.batch, options.input}, s.scenario.model.spec.dtype,
                                   s.world == WorldKind::real);
    return read;
  }
  const Result<Batch> rows = next_batch(s.scenario, "batch", 0, s.step, read.widths, {});
  if (!rows.ok()) return rows.error();
  read.rows = *rows;
  read.input = input_tensor(s.scenario, *rows, read.widths);
  return read;
}

template <class Step>
Status train_in_steps(Session& s, const Operation& op, Step step) {
  const auto& options = op.as<RpcPipelineOptions>();
  Status status;
  for (std::int64_t i = 0; i < options.steps && status.ok(); ++i) {
    s.step = static_cast<int>(i);
    s.env.recorder.set_site(site_of(op, op.name, s.step));
    const Result<PipelineBatch> batch = batch_of_step(s, options);
    status = batch.ok() ? step(*batch) : batch.status();
  }
  s.step = -1;
  return status;
}

// All shards in this process, one after another: what the pipeline has to come to.
Status train_alone(Session& s, const Operation& op) {
  make_optimizer(s);
  return train_in_steps(s, op, [&](const PipelineBatch& batch) -> Status {
    Result<nn::Tensor> at = batch.input;
    s.optimizer->zero_grad();
    for (const std::string& shard : op.as<RpcPipelineOptions>().shards)
      if (at.ok()) at = s.module->forward(*at, shard, {});
    if (!at.ok()) return at.error();
    const Result<nn::Tensor> loss = loss_of(s.scenario, *at, batch.rows, batch.widths);
    if (!loss.ok()) return loss.error();
    PDSIM_TRY(nn::BackwardPass().run(std::span(&*loss, 1)));
    s.optimizer->step();
    s.last_loss = loss->values();
    return {};
  });
}

Status drive(Session& s, Rpc& rpc, const Operation& op) {
  const auto& options = op.as<RpcPipelineOptions>();
  std::vector<std::string> workers = options.workers;
  for (std::size_t i = workers.size(); i < options.shards.size(); ++i) workers.push_back(fmt::format("worker{}", i + 1));
  const Result<RemotePipeline> pipeline = RemotePipeline::make(rpc, workers);
  if (!pipeline.ok()) return pipeline.error();
  const Result<std::vector<RRef>> parameters = pipeline->parameter_rrefs(rpc);
  if (!parameters.ok()) return parameters.error();
  Result<DistributedOptimizer> optimizer = DistributedOptimizer::make(rpc, s.scenario.optimizer, *parameters);
  if (!optimizer.ok()) return optimizer.error();
  const std::int64_t split_size = std::max<std::int64_t>(s.scenario.batch / options.num_split, 1);
  return train_in_steps(s, op, [&](const PipelineBatch& batch) -> Status {
    const auto loss_function = [&](const nn::Tensor& output) {
      return loss_of(s.scenario, output, batch.rows, batch.widths);
    };
    const Result<nn::Tensor> loss = pipeline->step(rpc, *optimizer, batch.input, split_size, loss_function);
    if (!loss.ok()) return loss.error();
    s.last_loss = loss->values();
    return {};
  });
}

Status rpc_pipeline(Session& s, const Operation& op) {
  const auto& options = op.as<RpcPipelineOptions>();
  make_shared_model(s);
  if (s.scenario.stands_for) return train_alone(s, op);
  RpcFunctions functions;
  const auto device = std::make_shared<DeviceTurns>(s.env.runtime);
  add_shard_functions(functions, [&, device](std::int64_t index) -> Result<std::shared_ptr<PipelineShard>> {
    const nn::PathSpec* path = s.module->path_named(options.shards[static_cast<std::size_t>(index)]);
    return std::make_shared<PipelineShard>(s.env.runtime, *s.module, path->layers, device);
  });
  Rpc rpc(s.env, functions);
  PDSIM_TRY(rpc.init_rpc(fmt::format("worker{}", s.env.rank),
                         {static_cast<int>(options.server_threads), options.rpc_timeout}));
  const Status status = s.env.rank == 0 ? drive(s, rpc, op) : Status{};
  const Status over = rpc.shutdown().status();
  return status.ok() ? over : status;
}

constexpr std::array rpc_pipeline_keys{
    Key{.name = "shards",
        .type = Type::names,
        .help = "paths of the model, one for each worker: worker1 has the first",
        .required = true,
        .bind = to<&RpcPipelineOptions::shards>},
    Key{.name = "workers",
        .type = Type::names,
        .help = "the worker of each shard; shards on one worker take turns on its device; default: worker1, worker2 ...",
        .bind = to<&RpcPipelineOptions::workers>},
    Key{.name = "num_split",
        .type = Type::integer,
        .help = "micro-batches of a batch; if the batch does not divide evenly, there is one more with fewer rows",
        .low = 1,
        .high = limits::steps,
        .bind = to<&RpcPipelineOptions::num_split>},
    Key{.name = "steps",
        .type = Type::integer,
        .help = "batches",
        .low = 1,
        .high = limits::steps,
        .bind = to<&RpcPipelineOptions::steps>},
    Key{.name = "input",
        .type = Type::integer,
        .help = "elements per row of the batch, if the model has only sizes",
        .low = 1,
        .high = limits::count,
        .bind = to<&RpcPipelineOptions::input>},
    Key{.name = "server_threads",
        .type = Type::integer,
        .help = "num_worker_threads of each worker",
        .low = 1,
        .high = limits::ranks,
        .bind = to<&RpcPipelineOptions::server_threads>},
    Key{.name = "rpc_timeout",
        .type = Type::duration,
        .help = "timeout of each call",
        .bind = to<&RpcPipelineOptions::rpc_timeout>},
};

constexpr std::array rpc_pipeline_rows{
    OperationRow{.name = "rpc_pipeline",
                 .help = "trains shards of the model over RPC, like DistResNet50 in PyTorch's tutorial: rank 0 is the "
                "master, each other rank has a shard; every rank calls it, and no process group is needed",
                 .title_help = "a training loop over RPC",
                 .keys = rpc_pipeline_keys,
                 .options = options_of<RpcPipelineOptions>,
                 .traits = language::needs_model,
                 .run = rpc_pipeline},
};

}  // namespace

const Operations rpc_pipeline_operations{rpc_pipeline_rows};

}  // namespace pdsim::scenarios::operations
