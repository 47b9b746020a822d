// The state behind a Tensor handle, and typed access to its elements. For core/nn alone.
//
//   ownership  a leaf's state knows its AccumulateGrad weakly and that node owns the leaf: no cycle, so that a leaf
//              lives as long as its handles and the graphs that use it
#pragma once

#include "core/base/check.h"
#include "core/nn/autograd.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdsim::nn {

// Bytes with one version counter, shared by every view of them.
struct Memory {
  std::vector<std::byte> bytes;
  bool absent = false;               // meta tensor, or freed
  std::optional<std::size_t> freed;  // bytes to allocate again
  std::uint32_t version = 0;
};

struct TensorState {
  std::shared_ptr<Memory> memory;
  std::size_t offset = 0;  // bytes
  Shape shape;
  std::int64_t numel = 0;
  DType dtype = DType::f32;
  int device = 0;
  std::string name;
  bool requires_grad = false;
  bool meta = false;  // holds no values
  Tensor grad;
  std::shared_ptr<Node> grad_fn;  // null for a leaf
  std::weak_ptr<Node> accumulate_grad;
  std::vector<PostAccumulateHook> hooks;
  std::shared_ptr<Tape> tape;

  static TensorState& of(const Tensor& t) {
    PDSIM_CHECK(t.defined(), "this tensor is undefined");
    return *t.state_;
  }
};

// Calls f(float{}) or f(double{}).
template <class F>
void with_float_type(DType dtype, F f) {
  PDSIM_CHECK(dtype == DType::f32 || dtype == DType::f64, "arithmetic is done in f32 or f64");
  if (dtype == DType::f32) return f(float{});
  f(double{});
}

template <class T>
std::span<const T> elements(const Tensor& t) {
  const ConstView view = t.view();
  return {reinterpret_cast<const T*>(view.data), static_cast<std::size_t>(view.count)};
}

template <class T>
std::span<T> mutable_elements(Tensor& t) {
  const MutableView view = t.mutable_view();
  return {reinterpret_cast<T*>(view.data), static_cast<std::size_t>(view.count)};
}

}  // namespace pdsim::nn
