// autograd_context, dist_backward, distributed_optimizer, distributed_step.
#include "core/nn/functional.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/rpc_session.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim::scenarios::operations {
namespace {

struct DistBackwardOptions {
  std::string of;
  std::string context;  // empty: the one around
};

struct DistributedOptimizerOptions {
  std::vector<std::string> of;
  double lr = 0.1;
};

struct DistributedStepOptions {
  std::string optimizer;
  std::string context;
};

Error no_such_name(const std::string& label) {
  return {Code::invalid_argument, fmt::format("name '{}' is not defined", label), {{"label", label}}};
}

Error rpc_missing(std::string_view what) {
  return {
      Code::not_initialized,
      fmt::format("Need to initialize distributed autograd using torch.distributed.autograd.init(), before {}", what),
      {}};
}

// The context with this label, or the one around.
Result<std::int64_t> context_of(const RpcSession& rpc, const std::string& label) {
  if (!label.empty()) {
    const auto found = rpc.contexts.find(label);
    if (found == rpc.contexts.end()) return no_such_name(label);
    return found->second;
  }
  if (rpc.context != nullptr) return rpc.context->id();
  return Error{Code::invalid_argument,
               "Current thread doesn't have a valid autograd context. Please wrap your code using: `with "
               "torch.distributed.autograd.context() as context_id` to generate a valid context",
               {}};
}

Status autograd_context(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_missing(op.name);
  RpcSession& rpc = *s.rpc;
  Result<std::unique_ptr<DistributedContext>> begun = DistributedContext::begin(rpc.here());
  if (!begun.ok()) return begun.error();
  rpc.context = std::move(*begun);
  if (!op.label.empty()) rpc.contexts.insert_or_assign(op.label, rpc.context->id());
  Status status;
  for (const Operation& inner : op.body) {
    status = s.run(inner);
    if (!status.ok()) break;
  }
  rpc.context.reset();
  return status;
}

Status dist_backward(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_missing(op.name);
  const auto& options = op.as<DistBackwardOptions>();
  const Result<std::int64_t> context = context_of(*s.rpc, options.context);
  if (!context.ok()) return context.error();
  const auto output = s.rpc->values.find(options.of);
  if (output == s.rpc->values.end()) return no_such_name(options.of);
  if (!output->second.is<nn::Tensor>())
    return Error{
        Code::autograd_misuse,
        fmt::format("backward(): roots must be tensors, and `{}` is {}", options.of, type_name(output->second)),
        {}};
  const Result<nn::Tensor> loss = nn::sum(output->second.as<nn::Tensor>());
  if (!loss.ok()) return loss.error();
  return s.rpc->here().backward(*context, std::span(&*loss, 1));
}

Status distributed_optimizer(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_missing(op.name);
  const auto& options = op.as<DistributedOptimizerOptions>();
  std::vector<RRef> parameters;
  for (const std::string& label : options.of) {
    const auto found = s.rpc->rrefs.find(label);
    if (found == s.rpc->rrefs.end()) return no_such_name(label);
    parameters.push_back(found->second);
  }
  nn::OptimizerSpec spec;
  spec.kind = nn::OptimizerSpec::Kind::sgd;
  spec.lr = options.lr;
  Result<DistributedOptimizer> made = DistributedOptimizer::make(s.rpc->rpc, spec, parameters);
  if (!made.ok()) return made.error();
  s.rpc->optimizers.insert_or_assign(op.label, std::move(*made));
  return {};
}

Status distributed_step(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_missing(op.name);
  const auto& options = op.as<DistributedStepOptions>();
  const auto optimizer = s.rpc->optimizers.find(options.optimizer);
  if (optimizer == s.rpc->optimizers.end()) return no_such_name(options.optimizer);
  const Result<std::int64_t> context = context_of(*s.rpc, options.context);
  if (!context.ok()) return context.error();
  return optimizer->second.step(*context);
}

constexpr std::array autograd_context_keys{
    Key{.name = "do",
        .type = Type::operations,
        .help = "the operations inside; their remote calls belong to the context, and link the graphs of their workers",
        .required = true,
        .traits = language::as_around},
};

constexpr Key context_key{
    .name = "context", .type = Type::name, .help = "label of the autograd_context; default: the enclosing one"};

constexpr std::array dist_backward_keys{
    Key{.name = "of",
        .type = Type::name,
        .help = "label of the rpc_sync, rpc_async or to_here whose tensor's sum is the loss",
        .required = true,
        .bind = to<&DistBackwardOptions::of>},
    bound(context_key, to<&DistBackwardOptions::context>),
};

constexpr std::array distributed_optimizer_keys{
    Key{.name = "of",
        .type = Type::names,
        .help = "labels of the `remote` calls that created its parameters",
        .required = true,
        .bind = to<&DistributedOptimizerOptions::of>},
    Key{.name = "lr",
        .type = Type::decimal,
        .help = "learning rate of SGD",
        .bind = to<&DistributedOptimizerOptions::lr>},
};

constexpr std::array distributed_step_keys{
    Key{.name = "optimizer",
        .type = Type::name,
        .help = "label of the distributed_optimizer",
        .required = true,
        .bind = to<&DistributedStepOptions::optimizer>},
    bound(context_key, to<&DistributedStepOptions::context>),
};

constexpr std::array rpc_autograd_rows{
    OperationRow{.name = "autograd_context",
                 .help = "`do` in a context of distributed autograd",
                 .title_help = "dist_autograd.context()",
                 .keys = autograd_context_keys,
                 .traits = language::in_train,
                 .run = autograd_context},
    OperationRow{.name = "dist_backward",
                 .help = "backward over the graphs that remote calls have linked; gradients stay with the context",
                 .title_help = "dist_autograd.backward",
                 .keys = dist_backward_keys,
                 .options = options_of<DistBackwardOptions>,
                 .traits = language::in_train,
                 .run = dist_backward},
    OperationRow{.name = "distributed_optimizer",
                 .help = "an optimizer of parameters on other workers; its label names it",
                 .title_help = "DistributedOptimizer",
                 .keys = distributed_optimizer_keys,
                 .options = options_of<DistributedOptimizerOptions>,
                 .traits = language::in_train,
                 .run = distributed_optimizer},
    OperationRow{.name = "distributed_step",
                 .help = "a step at every owner, with the gradients of one context",
                 .title_help = "DistributedOptimizer.step",
                 .keys = distributed_step_keys,
                 .options = options_of<DistributedStepOptions>,
                 .traits = language::in_train,
                 .run = distributed_step},
};

}  // namespace

const Operations rpc_autograd_operations{rpc_autograd_rows};

}  // namespace pdsim::scenarios::operations
