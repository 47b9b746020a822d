#include "core/nn/tensor.h"

#include "core/nn/tensor_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pdsim::nn {
namespace {

std::int64_t elements_in(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) {
    PDSIM_CHECK(d >= 0, "a tensor's sizes are not negative");
    n *= d;
  }
  return n;
}

bool is_float(DType t) { return t == DType::f32 || t == DType::f64; }

void store(MutableView to, std::int64_t index, double value) {
  const std::size_t at = static_cast<std::size_t>(index) * size_of(to.dtype);
  const auto put = [&](auto v) { std::memcpy(to.data + at, &v, sizeof v); };
  if (to.dtype == DType::f32) return put(static_cast<float>(value));
  if (to.dtype == DType::f64) return put(value);
  put(static_cast<std::int64_t>(value));
}

double load(ConstView from, std::int64_t index) {
  const std::byte* at = from.data + static_cast<std::size_t>(index) * size_of(from.dtype);
  const auto get = [at](auto v) {
    std::memcpy(&v, at, sizeof v);
    return static_cast<double>(v);
  };
  if (from.dtype == DType::f32) return get(float{});
  if (from.dtype == DType::f64) return get(double{});
  return get(std::int64_t{});
}

}  // namespace

Tensor Tensor::zeros(Shape shape, DType dtype) {
  PDSIM_CHECK(is_float(dtype) || dtype == DType::i64, "a tensor is f32, f64 or i64");
  Tensor t;
  t.state_ = std::make_shared<TensorState>();
  t.state_->numel = elements_in(shape);
  t.state_->shape = std::move(shape);
  t.state_->dtype = dtype;
  t.state_->memory = std::make_shared<Memory>();
  t.state_->memory->bytes.resize(static_cast<std::size_t>(t.state_->numel) * size_of(dtype));
  return t;
}

Tensor Tensor::from(const std::vector<double>& values, Shape shape, DType dtype) {
  Tensor t = zeros(std::move(shape), dtype);
  PDSIM_CHECK(t.numel() == static_cast<std::int64_t>(values.size()), "as many values as the shape holds");
  const MutableView to = t.mutable_view();
  for (std::int64_t i = 0; i < t.numel(); ++i) store(to, i, values[static_cast<std::size_t>(i)]);
  return t;
}

const Shape& Tensor::shape() const { return TensorState::of(*this).shape; }
std::int64_t Tensor::numel() const { return TensorState::of(*this).numel; }
DType Tensor::dtype() const { return TensorState::of(*this).dtype; }

Tensor Tensor::meta(Shape shape, DType dtype, bool memory) {
  Tensor t;
  t.state_ = std::make_shared<TensorState>();
  t.state_->numel = elements_in(shape);
  t.state_->shape = std::move(shape);
  t.state_->dtype = dtype;
  t.state_->meta = true;
  t.state_->memory = std::make_shared<Memory>();
  t.state_->memory->absent = !memory;
  if (memory) t.state_->memory->bytes.resize(static_cast<std::size_t>(t.state_->numel) * size_of(dtype));
  return t;
}

MutableView Tensor::mutable_view() {
  TensorState& s = TensorState::of(*this);
  return {s.memory->absent ? nullptr : s.memory->bytes.data() + s.offset, s.dtype, s.numel};
}

ConstView Tensor::view() const {
  const TensorState& s = TensorState::of(*this);
  return {s.memory->absent ? nullptr : s.memory->bytes.data() + s.offset, s.dtype, s.numel};
}

bool Tensor::has_values() const { return !TensorState::of(*this).meta; }
bool Tensor::has_memory() const { return !TensorState::of(*this).memory->absent; }

double Tensor::at(std::int64_t index) const {
  PDSIM_CHECK(index >= 0 && index < numel() && has_values(), "the index lies in the tensor");
  return load(view(), index);
}

std::vector<double> Tensor::values() const {
  if (!has_values() || !has_memory()) return {};
  std::vector<double> out(static_cast<std::size_t>(numel()));
  const ConstView from = view();
  for (std::int64_t i = 0; i < from.count; ++i) out[static_cast<std::size_t>(i)] = load(from, i);
  return out;
}

Tensor Tensor::clone() const {
  if (!has_values() || !has_memory()) return meta(shape(), dtype(), has_memory());
  Tensor t = zeros(shape(), dtype());
  const ConstView from = view();
  const auto at = static_cast<std::ptrdiff_t>(TensorState::of(*this).offset);
  const auto begin = state_->memory->bytes.begin() + at;
  std::copy(begin, begin + from.bytes(), t.state_->memory->bytes.begin());
  return t;
}

Tensor Tensor::detach() const {
  Tensor t = slice(0, shape());
  t.set_name(name());
  return t;
}

Tensor Tensor::slice(std::int64_t offset, Shape shape) const {
  const TensorState& s = TensorState::of(*this);
  Tensor t;
  t.state_ = std::make_shared<TensorState>();
  t.state_->numel = elements_in(shape);
  PDSIM_CHECK(offset >= 0 && offset + t.state_->numel <= s.numel, "a slice lies in its tensor");
  t.state_->memory = s.memory;
  t.state_->offset = s.offset + static_cast<std::size_t>(offset) * size_of(s.dtype);
  t.state_->shape = std::move(shape);
  t.state_->dtype = s.dtype;
  t.state_->meta = s.meta;
  return t;
}

bool Tensor::same_storage(const Tensor& other) const {
  const TensorState& a = TensorState::of(*this);
  const TensorState& b = TensorState::of(other);
  return a.memory == b.memory && a.offset == b.offset;
}

void Tensor::move_into(Tensor& flat, std::int64_t offset) {
  TensorState& from = TensorState::of(*this);
  const TensorState& to = TensorState::of(flat);
  PDSIM_CHECK(from.dtype == to.dtype && offset >= 0 && offset + from.numel <= to.numel, "a view lies in its tensor");
  const std::size_t at = to.offset + static_cast<std::size_t>(offset) * size_of(to.dtype);
  const auto bytes = static_cast<std::size_t>(view().bytes());
  if (bytes > 0 && has_memory() && flat.has_memory())
    std::memcpy(to.memory->bytes.data() + at, from.memory->bytes.data() + from.offset, bytes);
  from.memory = to.memory;
  from.offset = at;
}

void Tensor::free_storage() {
  Memory& memory = *TensorState::of(*this).memory;
  if (memory.absent) return;
  memory.freed = memory.bytes.size();
  memory.absent = true;
  std::vector<std::byte>().swap(memory.bytes);
}

void Tensor::allocate_storage() {
  Memory& memory = *TensorState::of(*this).memory;
  if (!memory.freed) return;
  memory.bytes.resize(*memory.freed);
  memory.absent = false;
  memory.freed.reset();
}

std::uint32_t Tensor::version() const { return TensorState::of(*this).memory->version; }
void Tensor::bump_version() { ++TensorState::of(*this).memory->version; }

void Tensor::copy_(ConstView from) {
  const MutableView to = mutable_view();
  PDSIM_CHECK(from.dtype == to.dtype && from.count == to.count, "copy_ takes as many elements of the same type");
  if (to.count > 0 && has_values() && from.data != nullptr)
    std::memmove(to.data, from.data, static_cast<std::size_t>(to.bytes()));
  bump_version();
}

void Tensor::fill_(double value) {
  const MutableView to = mutable_view();
  for (std::int64_t i = 0; has_values() && i < to.count; ++i) store(to, i, value);
  bump_version();
}

bool Tensor::requires_grad() const {
  const TensorState& s = TensorState::of(*this);
  return s.requires_grad || s.grad_fn != nullptr;
}

Tensor& Tensor::set_requires_grad(bool on) {
  TensorState& s = TensorState::of(*this);
  PDSIM_CHECK(s.grad_fn == nullptr, "only a leaf chooses whether it requires a gradient");
  PDSIM_CHECK(!on || s.meta || is_float(s.dtype), "only f32 and f64 tensors have gradients");
  s.requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const { return TensorState::of(*this).grad; }

void Tensor::set_grad(Tensor grad) {
  PDSIM_CHECK(!grad.defined() || (grad.shape() == shape() && grad.dtype() == dtype()),
              "a gradient has its tensor's shape and type");
  PDSIM_CHECK(grad.state_ != state_ || state_ == nullptr, "a tensor is not its own gradient");
  TensorState::of(*this).grad = std::move(grad);
}

const std::string& Tensor::name() const { return TensorState::of(*this).name; }

int Tensor::device() const { return TensorState::of(*this).device; }

Tensor& Tensor::set_device(int device) {
  TensorState::of(*this).device = device;
  return *this;
}

Tensor& Tensor::set_name(std::string name) {
  TensorState::of(*this).name = std::move(name);
  return *this;
}

std::shared_ptr<Node> Tensor::grad_fn() const {
  TensorState& s = TensorState::of(*this);
  if (s.grad_fn != nullptr || !s.requires_grad) return s.grad_fn;
  auto node = s.accumulate_grad.lock();
  if (node == nullptr) {
    node = make_accumulate_grad(*this);
    s.accumulate_grad = node;
  }
  return node;
}

void Tensor::set_grad_fn(std::shared_ptr<Node> node) { TensorState::of(*this).grad_fn = std::move(node); }

}  // namespace pdsim::nn
