// Contexts of distributed autograd at one worker: the tensors it sent to other workers, and those it received, so that a backward
// can follow them; and the resulting gradients.
//
//   send, receive   the two ends of a message that carries tensors which require a gradient; they share a number. The gradient
//                   that the receiving end gets travels back to the sending end
//   gradients       stay in the context; .grad of a tensor is not touched
//   source          PyTorch's note on distributed autograd, and torch/csrc/distributed/autograd
#pragma once

#include "core/nn/autograd.h"
#include "core/rpc/message.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace pdsim {

// The sender's end of a message: histories of its tensors, in order.
struct SendFunction {
  std::vector<nn::Edge> inputs;
};

// The receiver's end: the tensors begin here. Its gradients go to the sender, together.
struct ReceiveFunction {
  std::int64_t from = -1;
  std::int64_t number = -1;  // the message's, in its sender's context
  std::vector<const nn::Node*> outputs;
};

// The history of a received tensor: where a local backward ends. Its gradient is sent as soon as it is available, and the sender
// continues while this worker computes others.
class ReceiveNode final : public nn::Node {
 public:
  ReceiveNode(std::shared_ptr<ReceiveFunction> function, std::size_t index, std::shared_ptr<nn::Tape> tape)
      : Node("RecvRpcBackward", std::numeric_limits<std::uint64_t>::max(), std::move(tape)), function_(std::move(function)), index_(index) {}
  const std::shared_ptr<ReceiveFunction>& function() const { return function_; }
  std::size_t index() const { return index_; }
  Result<std::vector<nn::Tensor>> backward(const nn::Tensor&) override { return std::vector<nn::Tensor>{}; }

 private:
  std::shared_ptr<ReceiveFunction> function_;
  std::size_t index_;
};

using Gradients = std::vector<std::pair<nn::Tensor, nn::Tensor>>;  // of leaves, in the order in which they received theirs

struct AutogradContext {
  std::int64_t id = -1;
  std::set<std::int64_t> workers;  // reached from here
  std::map<std::int64_t, SendFunction> sends;
  Gradients gradients;
  std::shared_ptr<nn::Tape> tape = std::make_shared<nn::Tape>();
};

// The sum, element by element.
nn::Tensor sum_of_gradients(const nn::Tensor& a, const nn::Tensor& b);
// The gradient of that leaf; null if there is none.
nn::Tensor* gradient_of(Gradients& gradients, const nn::Tensor& leaf);

// For an outgoing message: notes its tensors' histories under `number`; false: none of them requires a gradient.
bool attach_send(AutogradContext& context, const RpcMessage& message, std::int64_t number);
// For an incoming message: gives its tensors that require a gradient their history.
void attach_receive(AutogradContext& context, RpcMessage& message, std::int64_t from);

}  // namespace pdsim
