// Tape autograd: nodes made by forward, walked by backward in PyTorch's engine order.
//
//   order     ready nodes run by descending sequence number (creation order); AccumulateGrad nodes run as soon as
//   ready, so
//             gradients become ready in PyTorch's order (of a linear layer: bias, then weight; last layer first)
//   hooks     post-accumulate hooks of a leaf run after its .grad was updated; the first error ends the backward
//   errors    saved_tensor_modified (PyTorch's wording, facts tensor, version, expected), autograd_misuse, or a hook's
//   error grad mode a GradMode argument, never a global
#pragma once

#include "core/nn/tensor.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdsim::nn {

struct Edge {
  std::shared_ptr<Node> node;  // null: the input needs no gradient
  int input = 0;
};

// What a node keeps of a tensor for its backward, with the version it had then.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& t) : tensor_(t), version_(t.defined() ? t.version() : 0) {}
  Result<Tensor> unpack() const;  // saved_tensor_modified when the version moved on

 private:
  Tensor tensor_;
  std::uint32_t version_ = 0;
};

class Node {
 public:
  explicit Node(std::string name) : name_(std::move(name)) {}
  virtual ~Node() = default;
  const std::string& name() const { return name_; }
  const std::vector<Edge>& next() const { return next_; }
  // Gradients for next(), in that order, from the gradient of the (single) output; undefined where none is needed.
  virtual Result<std::vector<Tensor>> backward(const Tensor& grad) = 0;
  virtual bool accumulates() const { return false; }

  std::vector<Edge> next_;
  std::uint64_t sequence = 0;
  std::string name_;
};

using PostAccumulateHook = std::function<Status(Tensor& leaf)>;

// The AccumulateGrad node of a leaf (made on demand). Hooks stay as long as the leaf lives.
void register_post_accumulate_hook(Tensor& leaf, PostAccumulateHook hook);

// Accumulates the gradients of all leaves reachable from the scalar `roots` (each with gradient one). `at_end`
// callbacks are queued by hooks (Reducer's finalize) through `queue_callback`, and run after the last node.
class BackwardPass {
 public:
  Status run(std::span<const Tensor> roots);
  void queue_callback(std::function<Status()> f) { at_end_.push_back(std::move(f)); }

 private:
  std::vector<std::function<Status()>> at_end_;
};

// The leaves that `outputs` can reach, for find_unused_parameters: AccumulateGrad leaves in depth-first order.
std::vector<Tensor> reachable_leaves(std::span<const Tensor> outputs);

}  // namespace pdsim::nn
