// DistributedOptimizer: optimizers at the owners of remote parameters, stepped together with the gradients of one context.
//
//   make    one optimizer per owner, which holds that owner's parameters; `parameters` are references to tensors that require
//           gradients
//   step    at every owner concurrently: steps each parameter that has a gradient in the context; .grad is unchanged afterwards.
//           Steps of different clients, or of different optimizers over the same parameters, are unordered: each is done
//   errors  those of the calls; unknown contexts
#pragma once

#include "core/nn/optimizer.h"
#include "core/rpc/rpc.h"

#include <span>
#include <vector>

namespace pdsim {

class DistributedOptimizer {
 public:
  // `rpc` must outlive it.
  static Result<DistributedOptimizer> make(Rpc& rpc, const nn::OptimizerSpec& spec, std::span<const RRef> parameters);
  Status step(std::int64_t context);

 private:
  explicit DistributedOptimizer(Rpc& rpc) : rpc_(&rpc) {}
  Rpc* rpc_;
  std::vector<RRef> optimizers_;  // one per owner, by rank
  notes::DistributedStep step_;   // for the record; the context is filled in
};

// The functions that every worker serves for others' optimizers; Rpc registers them.
void add_optimizer_functions(RpcFunctions& functions);

}  // namespace pdsim
