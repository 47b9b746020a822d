#include "core/nn/autograd.h"

#include "core/nn/tensor_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdsim::nn {
namespace {

template <class T>
void add_in_place(Tensor& to, const Tensor& from) {
  const auto out = mutable_elements<T>(to);
  const auto in = elements<T>(from);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += in[i];
}

class AccumulateGrad final : public Node {
 public:
  AccumulateGrad(const Tensor& leaf, std::shared_ptr<Tape> tape)
      : Node("AccumulateGrad", std::numeric_limits<std::uint64_t>::max(), std::move(tape)), leaf_(leaf) {}

  Result<std::vector<Tensor>> backward(const Tensor& grad) override {
    if (grad.defined()) accumulate(grad);
    TensorState& state = TensorState::of(leaf_);
    for (std::size_t i = 0; i < state.hooks.size(); ++i) {
      const PostAccumulateHook hook = state.hooks[i];  // it may register more
      PDSIM_TRY(hook(leaf_));
    }
    return std::vector<Tensor>{};
  }
  const Tensor* leaf() const override { return &leaf_; }

 private:
  void accumulate(const Tensor& grad) {
    Tensor sum = leaf_.grad();
    if (!sum.defined()) return leaf_.set_grad(grad.clone());
    if (sum.has_values()) with_float_type(sum.dtype(), [&](auto t) { add_in_place<decltype(t)>(sum, grad); });
    sum.bump_version();
  }

  Tensor leaf_;
};

class FunctionNode final : public Node {
 public:
  FunctionNode(std::string name, std::vector<SavedTensor> saved, GradientRule rule)
      : Node(std::move(name)), saved_(std::move(saved)), rule_(std::move(rule)) {}

  Result<std::vector<Tensor>> backward(const Tensor& grad) override {
    if (released_) return freed_twice(name());
    std::vector<Tensor> unpacked;
    for (const SavedTensor& s : saved_) {
      Result<Tensor> t = s.unpack();
      if (!t.ok()) return t.error();
      unpacked.push_back(*t);
    }
    return rule_(grad, unpacked);
  }

  void release() override {
    released_ = !saved_.empty();
    saved_.clear();
  }

 private:
  std::vector<SavedTensor> saved_;
  GradientRule rule_;
  bool released_ = false;
};

}  // namespace

Error freed_twice(const std::string& node) {
  return {
      Code::autograd_misuse,
      fmt::format("backward ran through this graph a second time, but what {} saved was freed by the first; add the "
                  "losses and run one backward, or run another forward",
                  node),
      {{"node", node}}};
}

SavedTensor::SavedTensor(const Tensor& t, std::string maker) : maker_(std::move(maker)) {
  if (!t.defined()) return;
  tensor_ = t.detach();
  version_ = t.version();
  const auto node = t.grad_fn();
  if (maker_.empty() && node != nullptr && node->leaf() == nullptr) maker_ = node->name();
}

Result<Tensor> SavedTensor::unpack() const {
  if (!tensor_.defined() || tensor_.version() == version_) return tensor_;
  const std::string& name = tensor_.name();
  const std::string made = maker_.empty() ? "" : fmt::format(", which is output 0 of {},", maker_);
  return Error{
      Code::saved_tensor_modified,
      fmt::format("one of the variables needed for gradient computation has been modified by an inplace "
                  "operation: [{} [{}]]{} is at version {}; expected version {} instead. Hint: {} was written "
                  "after a forward had saved it; run that forward's backward before the write, or keep the "
                  "write away from it.",
                  row(tensor_.dtype()).torch_name, fmt::join(tensor_.shape(), ", "), made, tensor_.version(), version_,
                  name.empty() ? "the tensor" : name),
      {{"tensor", name}, {"version", std::to_string(tensor_.version())}, {"expected", std::to_string(version_)}}};
}

// Graphs can be deeper than a fiber's stack, so they are taken apart in a loop.
Node::~Node() {
  std::vector<Edge> dying = std::move(next_);
  while (!dying.empty()) {
    const Edge node = std::move(dying.back());
    dying.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    std::move(node->next_.begin(), node->next_.end(), std::back_inserter(dying));
    node->next_.clear();
  }
}

bool tracked(std::initializer_list<Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.defined() && t.requires_grad(); });
}

void record(std::shared_ptr<Node> node, std::initializer_list<Tensor> inputs, Tensor& output) {
  std::uint64_t number = 0;
  for (const Tensor& input : inputs) {
    node->next_.push_back(input.defined() ? input.grad_fn() : nullptr);
    if (const Edge& edge = node->next_.back(); edge != nullptr) {
      number = std::max(number, edge->tape_->next);
      if (node->tape_ == nullptr) node->tape_ = edge->tape_;
    }
  }
  PDSIM_CHECK(node->tape_ != nullptr, "a node has an input that requires a gradient");
  node->sequence_ = number;
  for (const Edge& edge : node->next_)
    if (edge != nullptr) edge->tape_->next = number + 1;
  output.set_grad_fn(std::move(node));
}

std::shared_ptr<Node> make_function(std::string name, std::vector<SavedTensor> saved, GradientRule rule) {
  return std::make_shared<FunctionNode>(std::move(name), std::move(saved), std::move(rule));
}

std::shared_ptr<Node> make_accumulate_grad(const Tensor& leaf) {
  TensorState& state = TensorState::of(leaf);
  if (state.tape == nullptr) state.tape = std::make_shared<Tape>();
  return std::make_shared<AccumulateGrad>(leaf, state.tape);
}

void share_tape(std::span<Tensor> leaves) {
  const auto tape = std::make_shared<Tape>();
  for (Tensor& leaf : leaves) TensorState::of(leaf).tape = tape;
}

void register_post_accumulate_hook(Tensor& leaf, PostAccumulateHook hook) {
  TensorState::of(leaf).hooks.push_back(std::move(hook));
}

// --- the engine: walks the graph behind the roots from later to earlier nodes

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
