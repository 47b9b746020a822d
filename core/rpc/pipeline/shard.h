// PipelineShard: a part of a model at the worker that computes it, like the shards of PyTorch's tutorial on pipelines over RPC
// (DistResNet50). RemotePipeline drives it.
//
//   forward    takes one micro-batch, a tensor or a reference to one, which is fetched first; micro-batches take turns on the
//              device, in order of arrival
//   costs      the layers' costs (core/nn/module.h) go to the runtime: those of backward too, whichever worker asked for it
//   methods    forward(x), parameter_rrefs(): a list of references to this shard's parameters, for DistributedOptimizer
//   threads    those of the rank
#pragma once

#include "core/nn/module.h"
#include "core/rpc/rpc.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdsim {

// One device, on which one forward runs at a time. Shards that are given the same one share it. The runtime must outlive it.
class DeviceTurns {
 public:
  explicit DeviceTurns(Runtime& runtime) : runtime_(runtime) {}
  void take();  // waits behind earlier callers
  void pass();

 private:
  Runtime& runtime_;
  bool busy_ = false;
  std::deque<std::shared_ptr<Event>> waiting_;
};

class PipelineShard final : public RpcObject {
 public:
  // Takes these layers of `module`, in this order; its clock becomes `runtime`. Both must outlive the shard. Without `device` it
  // has one of its own.
  PipelineShard(Runtime& runtime, nn::Module& module, std::vector<std::string> layers,
                std::shared_ptr<DeviceTurns> device = nullptr);
  std::string type() const override { return "PipelineShard"; }
  // Errors: those of the layers, and of the fetch.
  Result<RpcValue> forward(Rpc& rpc, const RpcValue& x);
  Result<RpcValue> parameter_rrefs(Rpc& rpc);
  std::vector<nn::Tensor> parameters() const;

 private:
  nn::Module& module_;
  std::vector<std::string> layers_;
  std::shared_ptr<DeviceTurns> device_;
};

// Registers PipelineShard(index) and its methods; `make` returns the shard of that index, at the worker that is to have it.
using ShardMaker = std::function<Result<std::shared_ptr<PipelineShard>>(std::int64_t index)>;
void add_shard_functions(RpcFunctions& functions, ShardMaker make);

}  // namespace pdsim
