// Nodes and what they save.
#include "core/nn/layers.h"
#include "core/nn/tensor_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
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

}  // namespace pdsim::nn
