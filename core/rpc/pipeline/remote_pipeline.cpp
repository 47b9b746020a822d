#include "core/rpc/pipeline/remote_pipeline.h"

#include "core/nn/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

// Sends one micro-batch through the shards; the future is the output of the last.
Result<RpcFuture> send_through(Rpc& rpc, const std::vector<RRef>& shards, const nn::Tensor& rows) {
  Result<RRef> at = rpc.make_rref(rows);
  for (std::size_t i = 0; i + 1 < shards.size() && at.ok(); ++i) at = rpc.remote(shards[i], "forward", {*at});
  if (!at.ok()) return at.error();
  return rpc.rpc_async(shards.back(), "forward", {*at});
}

}  // namespace

Result<RemotePipeline> RemotePipeline::make(Rpc& rpc, std::span<const std::string> workers,
                                            std::span<const std::int64_t> indices) {
  RemotePipeline pipeline;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Result<RRef> shard = rpc.remote(workers[i], "PipelineShard", {indices.empty() ? static_cast<std::int64_t>(i) : indices[i]});
    if (!shard.ok()) return shard.error();
    pipeline.shards_.push_back(std::move(*shard));
  }
  if (pipeline.shards_.empty()) return Error{Code::invalid_argument, "a pipeline has one shard at least", {}};
  return pipeline;
}

Result<nn::Tensor> RemotePipeline::forward(Rpc& rpc, const nn::Tensor& batch, std::int64_t split_size) const {
  if (batch.shape().size() != 2 || split_size < 1)
    return Error{Code::invalid_argument,
                 fmt::format("a batch is [rows, elements], and its micro-batches have one row at least, not {}", split_size),
                 {}};
  const std::int64_t rows = batch.shape()[0], width = batch.shape()[1];
  std::vector<RpcFuture> outputs;
  for (std::int64_t first = 0; first < rows; first += split_size) {
    const std::int64_t some = std::min(split_size, rows - first);
    Result<RpcFuture> output = send_through(rpc, shards_, batch.slice(first * width, {some, width}));
    if (!output.ok()) return output.error();
    outputs.push_back(std::move(*output));
  }
  const Result<RpcList> values = wait_all(outputs);
  if (!values.ok()) return values.error();
  Result<nn::Tensor> joined = nn::Tensor();
  for (const RpcValue& value : *values) {
    if (!value.is<nn::Tensor>()) return rpc_exception("TypeError", "expected Tensor, but got " + type_name(value));
    joined = joined->defined() ? nn::concatenate_rows(*joined, value.as<nn::Tensor>()) : value.as<nn::Tensor>();
    if (!joined.ok()) return joined;
  }
  return joined;
}

Result<std::vector<RRef>> RemotePipeline::parameter_rrefs(Rpc& rpc) const {
  std::vector<RRef> parameters;
  for (const RRef& shard : shards_) {
    const Result<RpcValue> some = rpc.rpc_sync(shard, "parameter_rrefs");
    if (!some.ok()) return some.error();
    for (const RpcValue& rref : some->as<RpcList>()) parameters.push_back(rref.as<RRef>());
  }
  return parameters;
}

Result<nn::Tensor> RemotePipeline::step(Rpc& rpc, DistributedOptimizer& optimizer, const nn::Tensor& batch,
                                        std::int64_t split_size, const Loss& loss) const {
  const Result<std::unique_ptr<DistributedContext>> context = DistributedContext::begin(rpc);
  if (!context.ok()) return context.error();
  const Result<nn::Tensor> output = forward((*context)->rpc(), batch, split_size);
  if (!output.ok()) return output;
  Result<nn::Tensor> value = loss(*output);
  if (!value.ok()) return value;
  PDSIM_TRY(rpc.backward((*context)->id(), std::span(&*value, 1)));
  PDSIM_TRY(optimizer.step((*context)->id()));
  return value;
}

}  // namespace pdsim
