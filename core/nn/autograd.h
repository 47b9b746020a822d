// Tape autograd: forward creates nodes, backward walks them in PyTorch's engine order.
//
//   order     ready nodes run by descending sequence number (creation order); AccumulateGrad nodes run as soon as they
//             are ready, so gradients become ready in PyTorch's order (in a linear layer: bias, then weight; last layer
//             first); among equals first come, first served
//   hooks     post-accumulate hooks of a leaf run after its .grad was updated; the first error ends the backward
//   errors    saved_tensor_modified (PyTorch's wording, facts tensor, version, expected), autograd_misuse, or a hook's
//   grad mode an argument of Module::forward; a node is created only where an input requires a gradient
//   source    PyTorch's torch/csrc/autograd (engine.cpp, saved_variable.cpp, functions/accumulate_grad.h)
#pragma once

#include "core/nn/tensor.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdsim::nn {

using Edge = std::shared_ptr<Node>;  // null: the input needs no gradient

// The source of sequence numbers, instead of a global counter. The parameters of a module share one, so the nodes of
// all its forwards are numbered in creation order; where tapes meet, both continue from the larger number.
struct Tape {
  std::uint64_t next = 0;
};

// A tensor saved by a node for its backward, with the version it had then: the memory, never the history.
class SavedTensor {
 public:
  SavedTensor() = default;  // unpacks to an undefined tensor
  // `maker` names the node whose output it is, where the tensor does not know yet (a node that saves its own output).
  explicit SavedTensor(const Tensor& t, std::string maker = {});
  Result<Tensor> unpack() const;  // saved_tensor_modified when the version has changed

 private:
  Tensor tensor_;
  std::uint32_t version_ = 0;
  std::string maker_;
};

class Node {
 public:
  explicit Node(std::string name) : name_(std::move(name)) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  const std::string& name() const { return name_; }
  const std::vector<Edge>& next() const { return next_; }
  std::uint64_t sequence() const { return sequence_; }
  // Returns the gradients for next(), in that order, from the gradient of the (single) output; undefined where none is
  // needed.
  virtual Result<std::vector<Tensor>> backward(const Tensor& grad) = 0;
  virtual void release() {}                               // drops the saved tensors; a second backward is an error then
  virtual const Tensor* leaf() const { return nullptr; }  // AccumulateGrad: the tensor it accumulates into

 protected:
  Node(std::string name, std::uint64_t sequence, std::shared_ptr<Tape> tape)
      : name_(std::move(name)), sequence_(sequence), tape_(std::move(tape)) {}

 private:
  friend void record(std::shared_ptr<Node> node, std::initializer_list<Tensor> inputs, Tensor& output);
  std::string name_;
  std::vector<Edge> next_;
  std::uint64_t sequence_ = 0;
  std::shared_ptr<Tape> tape_;
};

// Whether an operation on these inputs (undefined ones are ignored) must create a node.
bool tracked(std::initializer_list<Tensor> inputs);
// Makes `node` the history of `output`, with the next number and edges to the histories of `inputs`, at least one of
// which requires a gradient.
void record(std::shared_ptr<Node> node, std::initializer_list<Tensor> inputs, Tensor& output);
// Creates a node that unpacks its saved tensors and applies `rule` to the output's gradient and the unpacked tensors.
using GradientRule = std::function<std::vector<Tensor>(const Tensor& grad, const std::vector<Tensor>& saved)>;
std::shared_ptr<Node> make_function(std::string name, std::vector<SavedTensor> saved, GradientRule rule);
// The error of a node whose saved tensors an earlier backward has released.
Error freed_twice(const std::string& node);
// The node that accumulates into this leaf's gradient and runs its hooks. For core/nn alone.
std::shared_ptr<Node> make_accumulate_grad(const Tensor& leaf);
// Makes nodes that start from these leaves share one numbering.
void share_tape(std::span<Tensor> leaves);

using PostAccumulateHook = std::function<Status(Tensor& leaf)>;

// The hook is called whenever a backward has accumulated into the leaf, in the order of registration. Hooks stay as
// long as the leaf lives, so a hook must not own its leaf.
void register_post_accumulate_hook(Tensor& leaf, PostAccumulateHook hook);

// Accumulates the gradients of all leaves reachable from the scalar `roots` (each with gradient one), and releases the
// graph. Hooks may queue callbacks (Reducer's finalize): they run after the last node, in order, unless an error ended
// the backward.
class BackwardPass {
 public:
  Status run(std::span<const Tensor> roots);
  // Starts from a tensor of any shape with this gradient.
  Status run(const Tensor& root, const Tensor& gradient);
  void queue_callback(std::function<Status()> f) { at_end_.push_back(std::move(f)); }

 private:
  Status finish();
  std::vector<std::function<Status()>> at_end_;
};

// The leaves reachable from `outputs`, each once, for find_unused_parameters.
std::vector<Tensor> reachable_leaves(std::span<const Tensor> outputs);

}  // namespace pdsim::nn
