#include "core/rpc/autograd/distributed.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {
namespace {

Error unknown_context(std::int64_t id) {
  return {Code::invalid_argument, fmt::format("Could not find autograd context with id: {}", id), {}};
}

Status check_roots(std::span<const nn::Tensor> roots) {
  for (const nn::Tensor& root : roots) {
    if (!root.requires_grad()) return Error{Code::autograd_misuse, "requires_grad not set on root", {}};
    if (root.numel() != 1)
      return Error{
          Code::autograd_misuse, fmt::format("{} is not a scalar, all roots need to be scalar", root.name()), {}};
  }
  return {};
}

}  // namespace

std::int64_t DistributedAutograd::begin() {
  const std::int64_t id = (self_ << 48) + next_context_++;
  (void)reach(id);
  return id;
}

AutogradContext& DistributedAutograd::reach(std::int64_t id) {
  std::shared_ptr<AutogradContext>& context = contexts_[id];
  if (context == nullptr) context = std::make_shared<AutogradContext>();
  context->id = id;
  return *context;
}

void DistributedAutograd::leave(std::int64_t id) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return;
  const std::set<std::int64_t> workers = found->second->workers;
  contexts_.erase(found);
  std::erase_if(passes_, [id](const auto& pass) { return pass.first.first == id; });
  RpcMessage over;
  over.kind = RpcMessageKind::context_done;
  over.context = id;
  for (const std::int64_t worker : workers)
    if (worker != self_) messages_.send(worker, over);
}

void DistributedAutograd::before_send(RpcMessage& message, std::int64_t to) {
  const auto found = contexts_.find(message.context);
  if (found == contexts_.end() || message.kind == RpcMessageKind::gradients) return;
  found->second->workers.insert(to);
  if (attach_send(*found->second, message, next_message_)) message.autograd = next_message_++;
}

void DistributedAutograd::after_receive(RpcMessage& message, std::int64_t from) {
  const bool is_reply = message.kind == RpcMessageKind::reply;
  if (message.context < 0 || message.kind == RpcMessageKind::gradients || message.kind == RpcMessageKind::context_done)
    return;
  if (is_reply && !contexts_.contains(message.context)) return;  // left meanwhile
  AutogradContext& context = reach(message.context);
  context.workers.insert(from);
  if (message.autograd >= 0) attach_receive(context, message, from);
}

std::shared_ptr<DistributedAutograd::Pass> DistributedAutograd::pass_of(const std::shared_ptr<AutogradContext>& context,
                                                                        RpcId id, std::span<const nn::Tensor> roots) {
  std::shared_ptr<Pass>& pass = passes_[{context->id, id}];
  if (pass != nullptr) return pass;
  pass = std::make_shared<Pass>();
  pass->context = context;
  pass->part = std::make_unique<DistributedPass>(
      *context, roots,
      [this, made = pass.get(), id, number = context->id](const ReceiveFunction& function,
                                                           std::vector<nn::Tensor> gradients) {
        RpcMessage message;
        message.kind = RpcMessageKind::gradients;
        message.context = number;
        message.autograd = function.number;
        message.rref = id;
        for (nn::Tensor& gradient : gradients)
          message.arguments.push_back(gradient.defined() ? RpcValue(gradient.detach()) : RpcValue());
        made->sent.push_back(messages_.request(function.from, std::move(message), made->origin));
      });
  return pass;
}

RpcFuture DistributedAutograd::all_of(std::vector<RpcFuture> futures, const Status& status) {
  RpcFuture all(runtime_, Time::max(), nullptr);
  if (!status.ok() || futures.empty()) {
    all.complete(status.ok() ? Result<RpcValue>(RpcValue()) : Result<RpcValue>(status.error()));
    return all;
  }
  auto left = std::make_shared<std::size_t>(futures.size());
  for (const RpcFuture& future : futures)
    future.on_done([all, future, left] {
      const Result<RpcValue> result = future.wait();
      if (!result.ok() || --*left == 0) all.complete(result);
    });
  return all;
}

Status DistributedAutograd::backward(std::int64_t id, std::span<const nn::Tensor> roots, const RpcOrigin& origin) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return unknown_context(id);
  PDSIM_TRY(check_roots(roots));
  const std::shared_ptr<Pass> pass = pass_of(found->second, {self_, next_pass_++}, roots);
  pass->origin = origin;
  Status status = pass->part->start(roots);
  if (!status.ok())
    return Error{status.error().code, fmt::format("Error on Node {}: {}", self_, status.error().message),
                 status.error().facts};
  for (const RpcFuture& future : std::exchange(pass->sent, {})) PDSIM_TRY(future.wait().status());
  return {};
}

RpcFuture DistributedAutograd::take_gradients(const RpcMessage& message, const RpcOrigin& origin) {
  const auto found = contexts_.find(message.context);
  if (found == contexts_.end()) return all_of({}, unknown_context(message.context));
  std::vector<nn::Tensor> gradients;
  for (const RpcValue& value : message.arguments)
    gradients.push_back(value.is<nn::Tensor>() ? value.as<nn::Tensor>() : nn::Tensor());
  const std::shared_ptr<Pass> pass = pass_of(found->second, message.rref, {});
  if (!pass->part->running()) pass->origin = origin;
  Status status = pass->part->receive(message.autograd, gradients);
  if (!status.ok())
    status = Error{status.error().code, fmt::format("Error on Node {}: {}", self_, status.error().message),
                   status.error().facts};
  return all_of(std::exchange(pass->sent, {}), status);
}

Result<Gradients> DistributedAutograd::gradients(std::int64_t id) const {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return unknown_context(id);
  return found->second->gradients;
}

}  // namespace pdsim
