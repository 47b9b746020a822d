// Tensor: a handle to shared storage with a shape, a dtype (f32, f64; i64 to count), a version counter and, for autograd, a
// history.
//
//   copies     share storage, as in PyTorch; clone() does not
//   meta      has a shape and a dtype (any) and takes part in messages, but holds no values: no arithmetic, no memory
//              unless asked for; values() is empty, copies and fills of it change only its version
//   version    counts in-place writes (copy_, fill_, and every caller of bump_version); views of the same memory share
//              it; saved tensors are checked against it
//   grad       undefined until the first backward; accumulated afterwards; zero_grad() of the optimizer sets it back
//   threads    none: a tensor belongs to its rank
//   source     PyTorch's torch/csrc/autograd (variable.h, saved_variable.cpp) for versions and the wording of the error
#pragma once

#include "core/base/result.h"
#include "core/base/views.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::nn {

using Shape = std::vector<std::int64_t>;

class Node;  // autograd.h
struct TensorState;

class Tensor {
 public:
  Tensor() = default;  // undefined
  static Tensor zeros(Shape shape, DType dtype = DType::f32);
  static Tensor from(const std::vector<double>& values, Shape shape, DType dtype = DType::f32);

  // A tensor without values. `memory`: its views are backed by zeros, as a real world has to move bytes.
  static Tensor meta(Shape shape, DType dtype, bool memory = false);

  bool defined() const { return state_ != nullptr; }
  const Shape& shape() const;
  std::int64_t numel() const;
  DType dtype() const;
  ConstView view() const;
  MutableView mutable_view();  // does not bump the version: the caller does, when it wrote
  bool has_values() const;     // not meta
  bool has_memory() const;     // its views are not null; also for a tensor without elements
  double at(std::int64_t index) const;
  std::vector<double> values() const;
  Tensor clone() const;   // same values, own storage, no history
  Tensor detach() const;  // same storage and version, no history
  // A view of consecutive elements from `offset` on: same memory and version, no history (DDP's bucket views).
  Tensor slice(std::int64_t offset, Shape shape) const;
  // Whether both start at the same element of the same memory (a detached tensor and its origin; two equal slices).
  bool same_storage(const Tensor& other) const;

  // For wrappers that keep parameters elsewhere, such as PyTorch's FSDP: none of these raises a version, so backward may read a
  // saved tensor again once its memory is back with the same numbers.
  // Makes this a view of the consecutive elements of `flat` from `offset` on, after copying its values there.
  void move_into(Tensor& flat, std::int64_t offset);
  // Frees the memory of this and of all its views: views become null and values() empty until it is allocated again, with zeros.
  // A tensor that never had memory stays as it is.
  void free_storage();
  void allocate_storage();

  std::uint32_t version() const;
  void bump_version();
  void copy_(ConstView from);  // in place; bumps the version
  void fill_(double value);    // in place; bumps the version

  bool requires_grad() const;
  Tensor& set_requires_grad(bool on);
  Tensor grad() const;  // undefined when there is none
  void set_grad(Tensor grad);
  int device() const;  // index on this rank; 0 unless it was set
  Tensor& set_device(int device);
  const std::string& name() const;
  Tensor& set_name(std::string name);
  // The node that produced it; for a leaf that requires a gradient its AccumulateGrad; null otherwise.
  std::shared_ptr<Node> grad_fn() const;
  void set_grad_fn(std::shared_ptr<Node> node);

 private:
  friend struct TensorState;
  std::shared_ptr<TensorState> state_;
};

}  // namespace pdsim::nn
