// The engine: walks the graph behind the roots from later to earlier nodes.
#include "core/nn/tensor_state.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdsim::nn {
namespace {

// Every node behind the roots once, in the order of discovery.
struct Graph {
  std::vector<Edge> nodes;
  std::vector<int> uses;                        // edges and roots that lead to the node
  std::map<const Node*, std::size_t> position;  // looked up only: the order of addresses decides nothing

  explicit Graph(std::span<const Tensor> roots) {
    for (const Tensor& root : roots) reach(root.grad_fn());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Edge node = nodes[i];
      for (const Edge& edge : node->next()) reach(edge);
    }
  }

 private:
  void reach(const Edge& edge) {
    if (edge == nullptr) return;
    const auto [it, is_new] = position.try_emplace(edge.get(), nodes.size());
    if (is_new) {
      nodes.push_back(edge);
      uses.push_back(0);
    }
    ++uses[it->second];
  }
};

Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (!a.has_values()) return a;
  Tensor sum = a.clone();
  with_float_type(a.dtype(), [&](auto t) {
    using T = decltype(t);
    const auto out = mutable_elements<T>(sum);
    const auto in = elements<T>(b);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += in[i];
  });
  return sum;
}

class Engine {
 public:
  explicit Engine(std::span<const Tensor> roots)
      : graph_(roots), waiting_(graph_.uses), gradients_(graph_.nodes.size()) {}

  void deliver_ones(std::span<const Tensor> roots) {
    for (const Tensor& root : roots) {
      Tensor one = Tensor::zeros(root.shape(), root.dtype());
      one.fill_(1.0);
      deliver(root.grad_fn(), one);
    }
  }

  void deliver(const Edge& to, const Tensor& gradient) {
    if (to == nullptr) return;
    const std::size_t i = graph_.position.at(to.get());
    if (gradient.defined()) gradients_[i] = gradients_[i].defined() ? sum_of(gradients_[i], gradient) : gradient;
    if (--waiting_[i] == 0) ready_.insert({~to->sequence(), arrivals_++, i});
  }

  Status run() {
    while (!ready_.empty()) {
      const std::size_t i = std::get<2>(*ready_.begin());
      ready_.erase(ready_.begin());
      Node& node = *graph_.nodes[i];
      const Tensor gradient = std::exchange(gradients_[i], {});
      if (!gradient.defined() && node.leaf() == nullptr) {
        for (const Edge& edge : node.next()) deliver(edge, {});
        continue;
      }
      const Result<std::vector<Tensor>> produced = node.backward(gradient);
      if (!produced.ok()) return produced.error();
      node.release();
      PDSIM_CHECK(produced->size() == node.next().size(), "a node gives one gradient per edge");
      for (std::size_t k = 0; k < node.next().size(); ++k) deliver(node.next()[k], (*produced)[k]);
    }
    return {};
  }

 private:
  Graph graph_;
  std::vector<int> waiting_;
  std::vector<Tensor> gradients_;
  // Complement of the sequence number, arrival, position: the first is the next to run.
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> ready_;
  std::uint64_t arrivals_ = 0;
};

Status check_root(const Tensor& root) {
  if (!root.defined()) return Error{Code::autograd_misuse, "backward was called on an undefined tensor", {}};
  if (!root.requires_grad())
    return Error{Code::autograd_misuse,
                 "backward was called on a tensor that does not require a gradient; was its forward run without "
                 "gradients, or do none of its parameters require one?",
                 {{"tensor", root.name()}}};
  if (root.numel() != 1)
    return Error{
        Code::autograd_misuse,
        fmt::format("backward starts at a scalar, and this tensor has {} elements; call it on a loss", root.numel()),
        {{"tensor", root.name()}}};
  return {};
}

}  // namespace

Status BackwardPass::run(std::span<const Tensor> roots) {
  for (const Tensor& root : roots) PDSIM_TRY(check_root(root));
  Engine engine(roots);
  engine.deliver_ones(roots);
  PDSIM_TRY(engine.run());
  return finish();
}

Status BackwardPass::run(const Tensor& root, const Tensor& gradient) {
  PDSIM_CHECK(root.requires_grad() && root.shape() == gradient.shape(), "a gradient fits what it is the gradient of");
  Engine engine(std::span(&root, 1));
  engine.deliver(root.grad_fn(), gradient);
  PDSIM_TRY(engine.run());
  return finish();
}

Status BackwardPass::finish() {
  for (std::size_t i = 0; i < at_end_.size(); ++i) {
    const std::function<Status()> callback = std::move(at_end_[i]);  // it may queue more
    PDSIM_TRY(callback());
  }
  at_end_.clear();
  return {};
}

std::vector<Tensor> reachable_leaves(std::span<const Tensor> outputs) {
  std::vector<Tensor> leaves;
  const Graph graph(outputs);
  for (const Edge& node : graph.nodes)
    if (node->leaf() != nullptr) leaves.push_back(*node->leaf());
  return leaves;
}

}  // namespace pdsim::nn
