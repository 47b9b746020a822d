// DistributedAutograd: the contexts of one worker, and its part in backwards over them (fast mode; see engine.h).
//
//   context    begun at one worker; others have it from its first message on, until the worker that began it leaves it
//   backward   returns when every gradient that it sent has been taken in, wherever that led. A message of the context that the
//              loss does not depend on blocks all that waits for its gradient: those gradients are then missing
//   errors     invalid_argument, autograd_misuse, in PyTorch's words; errors at other workers are those of backward
//   threads    those of the rank
#pragma once

#include "core/rpc/autograd/engine.h"
#include "core/rpc/call_records.h"
#include "core/rpc/future.h"

#include <functional>
#include <map>
#include <memory>
#include <span>

namespace pdsim {

class DistributedAutograd {
 public:
  struct Messages {
    // The reply arrives when it has been taken in.
    std::function<RpcFuture(std::int64_t to, RpcMessage, const RpcOrigin&)> request;
    std::function<void(std::int64_t to, const RpcMessage&)> send;
  };
  DistributedAutograd(Runtime& runtime, std::int64_t self, Messages messages)
      : runtime_(runtime), self_(self), messages_(std::move(messages)) {}

  std::int64_t begin();  // a context; unique in the job, with this worker in the high bits
  // Leaves it here, and at every worker that it has reached.
  void leave(std::int64_t context);
  bool has(std::int64_t context) const { return contexts_.contains(context); }
  std::size_t contexts() const { return contexts_.size(); }

  // For a message with a context, before it is sent and after it is received.
  void before_send(RpcMessage& message, std::int64_t to);
  void after_receive(RpcMessage& message, std::int64_t from);

  // Called by the program or a handler of the worker where the roots are; `origin` says which.
  Status backward(std::int64_t context, std::span<const nn::Tensor> roots, const RpcOrigin& origin);
  // Takes gradients from another worker, on the server thread of `origin`: the future is over when everything that follows is.
  RpcFuture take_gradients(const RpcMessage& message, const RpcOrigin& origin);
  Result<Gradients> gradients(std::int64_t context) const;

 private:
  // One backward, here: its pass, and the gradients on their way from it. A node may wait (its cost takes time), and the context
  // may be left meanwhile: the caller that runs the pass keeps both.
  struct Pass {
    std::shared_ptr<AutogradContext> context{};
    std::unique_ptr<DistributedPass> part{};
    std::vector<RpcFuture> sent{};
    RpcOrigin origin{};  // the thread that runs its nodes, and so sends
  };
  AutogradContext& reach(std::int64_t context);
  std::shared_ptr<Pass> pass_of(const std::shared_ptr<AutogradContext>& context, RpcId pass,
                                std::span<const nn::Tensor> roots);
  RpcFuture all_of(std::vector<RpcFuture> futures, const Status& status);

  Runtime& runtime_;
  std::int64_t self_;
  Messages messages_;
  std::int64_t next_context_ = 0, next_message_ = 0, next_pass_ = 0;
  std::map<std::int64_t, std::shared_ptr<AutogradContext>> contexts_;
  std::map<std::pair<std::int64_t, RpcId>, std::shared_ptr<Pass>> passes_;  // by context
};

}  // namespace pdsim
