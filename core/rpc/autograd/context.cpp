#include "core/rpc/autograd/context.h"

#include <algorithm>
#include <functional>
#include <span>

namespace pdsim {
namespace {

template <class T>
void add_to(nn::Tensor& sum, const nn::Tensor& other) {
  const MutableView to = sum.mutable_view();
  const ConstView from = other.view();
  auto* out = reinterpret_cast<T*>(to.data);
  const auto* in = reinterpret_cast<const T*>(from.data);
  for (std::int64_t i = 0; i < to.count; ++i) out[i] += in[i];
}

// The tensors of a message, in the order in which it carries them.
void for_tensors(RpcValue& value, const std::function<void(nn::Tensor&)>& visit) {
  if (auto* tensor = std::get_if<nn::Tensor>(&value.body)) {
    if (tensor->defined() && tensor->requires_grad()) visit(*tensor);
  } else if (auto* list = std::get_if<RpcList>(&value.body)) {
    for (RpcValue& item : *list) for_tensors(item, visit);
  }
}

void for_tensors(RpcMessage& message, const std::function<void(nn::Tensor&)>& visit) {
  for (RpcValue& argument : message.arguments) for_tensors(argument, visit);
  for_tensors(message.value, visit);
}

}  // namespace

nn::Tensor sum_of_gradients(const nn::Tensor& a, const nn::Tensor& b) {
  if (!a.has_values()) return a;
  nn::Tensor sum = a.clone();
  if (sum.dtype() == DType::f32)
    add_to<float>(sum, b);
  else
    add_to<double>(sum, b);
  return sum;
}

nn::Tensor* gradient_of(Gradients& gradients, const nn::Tensor& leaf) {
  const auto found = std::find_if(gradients.begin(), gradients.end(),
                                  [&leaf](const auto& gradient) { return gradient.first.same_storage(leaf); });
  return found == gradients.end() ? nullptr : &found->second;
}

bool attach_send(AutogradContext& context, const RpcMessage& message, std::int64_t number) {
  SendFunction send;
  RpcMessage read = message;
  for_tensors(read, [&send](const nn::Tensor& tensor) { send.inputs.push_back(tensor.grad_fn()); });
  if (send.inputs.empty()) return false;
  context.sends[number] = std::move(send);
  return true;
}

void attach_receive(AutogradContext& context, RpcMessage& message, std::int64_t from) {
  auto function = std::make_shared<ReceiveFunction>();
  function->from = from;
  function->number = message.autograd;
  for_tensors(message, [&](nn::Tensor& tensor) {
    const auto node = std::make_shared<ReceiveNode>(function, function->outputs.size(), context.tape);
    function->outputs.push_back(node.get());
    tensor.set_requires_grad(false);
    tensor.set_grad_fn(node);
  });
}

}  // namespace pdsim
