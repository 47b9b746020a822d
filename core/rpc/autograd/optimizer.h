// DistributedOptimizer: optimizers at the owners of remote parameters, stepped together with the gradients of one context.
//
//   make    one optimizer per owner, which holds that owner's parameters; `parameters` are references to tensors that require gradients
//   step    at every owner, at once: each parameter that has a gradient in the context is stepped; .grad is as before afterwards.
//           Nothing orders the steps of different clients, nor of different optimizers over the same parameters: each is done
//   errors  those of the calls; unknown contexts
#pragma once

#include "core/nn/optimizer.h"
#include "core/rpc/rpc.h"

#include <span>
#include <vector>

namespace pdsim {

class DistributedOptimizer {
 public:
  // `rpc` outlives it.
  static Result<DistributedOptimizer> make(Rpc& rpc, const nn::OptimizerSpec& spec, std::span<const RRef> parameters);
  Status step(std::int64_t context);

 private:
  explicit DistributedOptimizer(Rpc& rpc) : rpc_(&rpc) {}
  Rpc* rpc_;
  std::vector<RRef> optimizers_;  // one per owner, by rank
  notes::DistributedStep step_;   // of the record; the context is filled in
};

// What every worker serves for others' optimizers; Rpc registers it.
void add_optimizer_functions(RpcFunctions& functions);

}  // namespace pdsim
