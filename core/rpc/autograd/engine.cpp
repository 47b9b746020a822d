#include "core/rpc/autograd/engine.h"

#include "core/base/check.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {

DistributedPass::DistributedPass(AutogradContext& context, std::span<const nn::Tensor> roots, SendBack send_back)
    : context_(context), send_back_(std::move(send_back)) {
  for (const nn::Tensor& root : roots) reach(root.grad_fn());
  for (const auto& [number, send] : context.sends)
    for (const nn::Edge& edge : send.inputs) reach(edge);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const nn::Edge node = nodes_[i];
    for (const nn::Edge& edge : node->next()) reach(edge);
  }
  gradients_.resize(nodes_.size());
  for (const nn::Edge& node : nodes_) {
    const auto* received = dynamic_cast<const ReceiveNode*>(node.get());
    if (received == nullptr) continue;
    const ReceiveFunction& function = *received->function();
    Returning& returning = returning_[{function.from, function.number}];
    returning.gradients.resize(function.outputs.size());
    ++returning.missing;
  }
}

void DistributedPass::reach(const nn::Edge& edge) {
  if (edge == nullptr) return;
  const auto [at, is_new] = position_.try_emplace(edge.get(), nodes_.size());
  if (is_new) {
    nodes_.push_back(edge);
    waiting_.push_back(0);
  }
  ++waiting_[at->second];
}

void DistributedPass::deliver(const nn::Edge& to, const nn::Tensor& gradient) {
  if (to == nullptr) return;
  const std::size_t i = position_.at(to.get());
  if (gradient.defined())
    gradients_[i] = gradients_[i].defined() ? sum_of_gradients(gradients_[i], gradient) : gradient;
  if (--waiting_[i] == 0) ready_.insert({message_, ~to->sequence(), arrivals_++, i});
}

Status DistributedPass::start(std::span<const nn::Tensor> roots) {
  for (const nn::Tensor& root : roots) {
    nn::Tensor one = nn::Tensor::zeros(root.shape(), root.dtype());
    one.fill_(1.0);
    deliver(root.grad_fn(), one);
  }
  return run();
}

Status DistributedPass::receive(std::int64_t number, const std::vector<nn::Tensor>& gradients) {
  const auto send = context_.sends.find(number);
  if (send == context_.sends.end() || send->second.inputs.size() != gradients.size())
    return Error{Code::invalid_argument,
                 fmt::format("the context has no send function {} with {} tensors", number, gradients.size()),
                 {}};
  const std::uint64_t before = std::exchange(message_, ++messages_);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (send->second.inputs[i] == nullptr || position_.contains(send->second.inputs[i].get()))
      deliver(send->second.inputs[i], gradients[i]);
  message_ = before;  // of who runs, and waits in a node
  return run();
}

Status DistributedPass::run() {
  if (std::exchange(running_, true)) return {};
  Status status;
  while (status.ok() && !ready_.empty()) {
    const std::size_t i = std::get<3>(*ready_.begin());
    message_ = std::get<0>(*ready_.begin());
    ready_.erase(ready_.begin());
    status = run_node(i);
  }
  running_ = false;
  return status;
}

Status DistributedPass::run_node(std::size_t i) {
  const nn::Edge kept = nodes_[i];
  nn::Node& node = *kept;
  const nn::Tensor gradient = std::exchange(gradients_[i], {});
  if (const auto* received = dynamic_cast<const ReceiveNode*>(&node)) {
    return_gradient(*received, gradient);
    return {};
  }
  if (node.leaf() != nullptr) {
    if (!gradient.defined()) return {};
    nn::Tensor* before = gradient_of(context_.gradients, *node.leaf());
    if (before == nullptr)
      context_.gradients.emplace_back(*node.leaf(), gradient.clone());
    else
      *before = sum_of_gradients(*before, gradient);
    return {};
  }
  if (!gradient.defined()) {
    for (const nn::Edge& edge : node.next()) deliver(edge, {});
    return {};
  }
  const Result<std::vector<nn::Tensor>> produced = node.backward(gradient);
  if (!produced.ok()) return produced.error();
  node.release();
  PDSIM_CHECK(produced->size() == node.next().size(), "a node gives one gradient per edge");
  for (std::size_t k = 0; k < node.next().size(); ++k) deliver(node.next()[k], (*produced)[k]);
  return {};
}

void DistributedPass::return_gradient(const ReceiveNode& node, const nn::Tensor& gradient) {
  const ReceiveFunction& function = *node.function();
  Returning& returning = returning_.at({function.from, function.number});
  returning.gradients[node.index()] = gradient;
  if (--returning.missing == 0) send_back_(function, std::move(returning.gradients));
}

}  // namespace pdsim
