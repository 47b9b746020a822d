#include "core/rpc/autograd/optimizer.h"

#include <map>
#include <memory>
#include <utility>

namespace pdsim {
namespace {

// At the owner. Its parameters are the very tensors that their references hold.
class LocalOptimizer final : public RpcObject {
 public:
  LocalOptimizer(const nn::OptimizerSpec& spec, std::vector<nn::Tensor> parameters)
      : parameters_(std::move(parameters)), optimizer_(nn::Optimizer::make(spec, parameters_)) {}
  std::string type() const override { return "_LocalOptimizer"; }

  void step(Gradients& gradients) {
    std::vector<nn::Tensor> before;
    for (nn::Tensor& parameter : parameters_) {
      before.push_back(parameter.grad());
      const nn::Tensor* gradient = gradient_of(gradients, parameter);
      parameter.set_grad(gradient != nullptr ? *gradient : nn::Tensor());
    }
    optimizer_->step();
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].set_grad(before[i]);
  }

 private:
  std::vector<nn::Tensor> parameters_;
  std::unique_ptr<nn::Optimizer> optimizer_;
};

Result<RpcValue> make_local(Rpc& rpc, std::int64_t kind, const std::vector<double>& numbers, const RpcList& rrefs) {
  nn::OptimizerSpec spec;
  spec.kind = kind == 0 ? nn::OptimizerSpec::Kind::sgd : nn::OptimizerSpec::Kind::adam;
  spec.lr = numbers[0];
  spec.momentum = numbers[1];
  spec.beta1 = numbers[2];
  spec.beta2 = numbers[3];
  spec.eps = numbers[4];
  std::vector<nn::Tensor> parameters;
  for (const RpcValue& rref : rrefs) {
    if (!rref.is<RRef>())
      return rpc_exception("TypeError", "an optimizer takes RRefs of parameters, not " + type_name(rref));
    const Result<RpcValue> value = rpc.local_value(rref.as<RRef>());
    if (!value.ok()) return value.error();
    if (!value->is<nn::Tensor>())
      return rpc_exception("TypeError",
                           "optimizer can only optimize Tensors, but one of the params is " + type_name(*value));
    parameters.push_back(value->as<nn::Tensor>());
  }
  return RpcValue(std::make_shared<LocalOptimizer>(spec, std::move(parameters)));
}

}  // namespace

void add_optimizer_functions(RpcFunctions& functions) {
  functions.add("_LocalOptimizer(kind, lr, momentum, beta1, beta2, eps, parameters)",
                [](Rpc& rpc, std::int64_t kind, double lr, double momentum, double beta1, double beta2, double eps,
                   const RpcList& rrefs) {
                  return make_local(rpc, kind, {lr, momentum, beta1, beta2, eps}, rrefs);
                });
  functions.add("_LocalOptimizer.step(self, context)",
                [](Rpc& rpc, LocalOptimizer& self, std::int64_t context) -> Status {
                  Result<Gradients> gradients = rpc.get_gradients(context);
                  if (!gradients.ok()) return gradients.error();
                  self.step(*gradients);
                  return {};
                });
}

Result<DistributedOptimizer> DistributedOptimizer::make(Rpc& rpc, const nn::OptimizerSpec& spec,
                                                        std::span<const RRef> parameters) {
  std::map<std::int64_t, RpcList> of_owner;
  for (const RRef& parameter : parameters) of_owner[parameter.owner()].push_back(parameter);
  DistributedOptimizer made(rpc);
  made.step_.optimizer = rpc.next_optimizer();
  for (const RRef& parameter : parameters) {
    made.step_.made_on.push_back(parameter.id().created_on);
    made.step_.numbers.push_back(parameter.id().local_id);
  }
  for (auto& [owner, rrefs] : of_owner) {
    Result<RRef> optimizer = rpc.remote(
        static_cast<Rank>(owner), "_LocalOptimizer",
        {static_cast<std::int64_t>(spec.kind), spec.lr, spec.momentum, spec.beta1, spec.beta2, spec.eps, rrefs});
    if (!optimizer.ok()) return optimizer.error();
    made.optimizers_.push_back(std::move(*optimizer));
  }
  return made;
}

Status DistributedOptimizer::step(std::int64_t context) {
  const Result<Gradients> here = rpc_->get_gradients(context);
  if (!here.ok()) return here.error();
  const RecordedContext recorded = recorded_context(context);
  step_.begun_on = recorded.begun_on;
  step_.context = recorded.number;
  rpc_->recorder().note(step_);
  std::vector<RpcFuture> steps;
  for (const RRef& optimizer : optimizers_) steps.push_back(rpc_->rpc_async(optimizer, "step", {context}));
  return wait_all(steps).status();
}

}  // namespace pdsim
