// RemotePipeline: a model whose shards are at other workers, driven by one master, like DistResNet50 of PyTorch's tutorial on
// pipelines over RPC.
//
//   add_shard_functions(functions, make);                          // on every worker, before init_rpc
//   const auto pipeline = RemotePipeline::make(rpc, workers);      // the master, from here on
//   auto optimizer = DistributedOptimizer::make(rpc, {nn::OptimizerSpec::Kind::sgd, 0.05}, *pipeline->parameter_rrefs());
//   const Result<nn::Tensor> loss = pipeline->step(rpc, *optimizer, batch, batch_rows / num_split, mean_square_error);
//
//   forward    splits the batch into micro-batches of `split_size` rows (torch.split: the last may have fewer). Each goes through
//              the shards by references, which the shards fetch from each other; only the last output returns to the master,
//              which concatenates them. So a shard computes one micro-batch while the next shard computes another
//   backward   over the graph of all workers, once, after all forwards (GPipe's order); the last micro-batch first
//   errors     those of the calls: an exception of a shard, a worker that has ended, a limit
#pragma once

#include "core/rpc/autograd/optimizer.h"
#include "core/rpc/rpc.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pdsim {

class RemotePipeline {
 public:
  using Loss = std::function<Result<nn::Tensor>(const nn::Tensor& output)>;  // a scalar

  // Creates PipelineShard(indices[k]) at workers[k], of which there must be at least one; without indices PipelineShard(k).
  static Result<RemotePipeline> make(Rpc& rpc, std::span<const std::string> workers,
                                     std::span<const std::int64_t> indices = {});
  // Calls go through `rpc`: a context's, where a backward follows. Error also: invalid_argument, a split of no rows.
  Result<nn::Tensor> forward(Rpc& rpc, const nn::Tensor& batch, std::int64_t split_size) const;
  // The parameters of all shards, in their order.
  Result<std::vector<RRef>> parameter_rrefs(Rpc& rpc) const;
  // Runs one batch in a context of its own: forward, loss, backward, and a step of the optimizer. Returns the loss.
  Result<nn::Tensor> step(Rpc& rpc, DistributedOptimizer& optimizer, const nn::Tensor& batch, std::int64_t split_size,
                          const Loss& loss) const;
  const std::vector<RRef>& shards() const { return shards_; }

 private:
  std::vector<RRef> shards_;
};

}  // namespace pdsim
