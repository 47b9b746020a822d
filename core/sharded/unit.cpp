#include "core/sharded/unit.h"

#include "core/parallel/coalesced.h"
#include "core/parallel/gradient_bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

Error not_flat(const std::string& unit, const std::string& why) {
  return {Code::invalid_argument, fmt::format("unit {}: {}", unit, why), {{"unit", unit}}};
}

void add_to(nn::Tensor& sum, const nn::Tensor& more) {
  if (!sum.has_values()) return;
  const ConstView from = more.view();
  const MutableView to = sum.mutable_view();
  const auto add = [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < to.count; ++i)
      reinterpret_cast<T*>(to.data)[i] += reinterpret_cast<const T*>(from.data)[i];
  };
  to.dtype == DType::f64 ? add(double{}) : add(float{});
}

}  // namespace

ShardedUnit::ShardedUnit(std::string name, std::vector<nn::Tensor> parameters, ProcessGroup& group, int stage)
    : name_(std::move(name)), parameters_(std::move(parameters)), group_(group), stage_(stage) {}

Result<std::unique_ptr<ShardedUnit>> ShardedUnit::make(std::string name, std::vector<nn::Tensor> parameters,
                                                       ProcessGroup& group, int stage) {
  std::unique_ptr<ShardedUnit> unit(new ShardedUnit(std::move(name), std::move(parameters), group, stage));
  if (unit->empty()) {
    unit->whole_ = true;
    return unit;
  }
  const nn::Tensor& first = unit->parameters_.front();
  std::int64_t elements = 0;
  for (const nn::Tensor& p : unit->parameters_) {
    if (p.dtype() != first.dtype())
      return not_flat(unit->name_, fmt::format("Must flatten tensors with uniform dtype but got {} ({}) and {} ({}); "
                                               "put their layers into units of their own",
                                               name_of(first.dtype()), first.name(), name_of(p.dtype()), p.name()));
    if (p.requires_grad() != first.requires_grad())
      return not_flat(
          unit->name_,
          fmt::format("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`, and "
                      "{} is trained and {} frozen; put their layers into units of their own",
                      (first.requires_grad() ? first : p).name(), (first.requires_grad() ? p : first).name()));
    elements += p.numel();
  }
  unit->trained_ = first.requires_grad();
  unit->part_ = (elements + group.size() - 1) / group.size();
  unit->flat_ = unit->make_flat();
  std::int64_t offset = 0;
  for (nn::Tensor& p : unit->parameters_) {
    p.move_into(unit->flat_, offset);
    offset += p.numel();
  }
  const nn::Tensor mine = unit->flat_.slice(group.rank() * unit->part_, {unit->part_});
  unit->shard_ = stage == 3 ? mine.clone() : mine;
  unit->shard_.set_name(unit->name_ + ".flat_param").set_requires_grad(unit->trained_);
  unit->whole_ = stage != 3;
  if (stage == 3) unit->flat_.free_storage();
  return unit;
}

// Returns a tensor with the size of the whole flat parameter; zeros if the parameter has values.
nn::Tensor ShardedUnit::make_flat() const {
  const nn::Tensor& first = parameters_.front();
  const nn::Shape shape{part_ * group_.size()};
  if (first.has_values()) return nn::Tensor::zeros(shape, first.dtype());
  return nn::Tensor::meta(shape, first.dtype(), flat_.defined() ? shard_.has_memory() : first.has_memory());
}

CallOptions ShardedUnit::call() const {
  CallOptions options;
  options.purpose = {PurposeKind::unit, -1, name_};
  options.async = true;
  for (const nn::Tensor& p : parameters_) options.parameters.push_back(p.name());
  return options;
}

bool ShardedUnit::whole() const { return whole_; }

Status ShardedUnit::gather_into_flat() {
  const auto work = keeping(std::pair{shard_, flat_}, group_.all_gather(shard_.view(), flat_.mutable_view(), call()));
  if (!work.ok()) return work.error();
  gather_ = *work;
  return {};
}

Status ShardedUnit::start_gather() {
  if (whole_ || gather_ != nullptr) return {};
  flat_.allocate_storage();
  return gather_into_flat();
}

Status ShardedUnit::start_exchange_of_shards() { return empty() ? Status{} : gather_into_flat(); }

Status ShardedUnit::finish_gather() {
  if (gather_ == nullptr) return {};
  const WorkPtr work = std::exchange(gather_, nullptr);
  whole_ = true;
  return work->wait();
}

Status ShardedUnit::release() {
  if (empty() || stage_ != 3) return {};
  PDSIM_TRY(finish_gather());
  if (std::exchange(whole_, false)) flat_.free_storage();
  return {};
}

void ShardedUnit::take_shard() {
  if (empty() || stage_ != 3) return;
  shard_.copy_(flat_.slice(group_.rank() * part_, {part_}).view());
}

// A shard that is a view needs no memory of its own.
std::int64_t ShardedUnit::parameter_bytes() const {
  if (empty()) return 0;
  const bool flat = whole_ || gather_ != nullptr;
  return (stage_ == 3 ? shard_.view().bytes() : 0) + (flat ? flat_.view().bytes() : 0);
}

// In stage 1 the shard's gradient is a part of the flat one that is kept.
std::int64_t ShardedUnit::gradient_bytes() const {
  std::int64_t bytes = 0;
  for (const nn::Tensor& p : parameters_)
    if (p.grad().defined()) bytes += p.view().bytes();
  if (gradient_.defined()) bytes += gradient_.view().bytes();
  if (!empty() && shard_.grad().defined() && !(stage_ == 1 && gradient_.defined())) bytes += shard_.view().bytes();
  return bytes;
}

Status ShardedUnit::start_reduce() {
  if (!trained_) return {};
  PDSIM_TRY(finish_reduce());
  gradient_ = make_flat();
  reduced_ = shard_.clone();
  std::int64_t offset = 0;
  for (nn::Tensor& p : parameters_) {
    nn::Tensor view = gradient_.slice(offset, p.shape());
    take_gradient(p, view, group_.size(), false);
    p.set_grad({});
    offset += p.numel();
  }
  const auto work = keeping(std::pair{gradient_, reduced_},
                            group_.reduce_scatter(gradient_.view(), reduced_.mutable_view(), ReduceOp::sum, call()));
  if (!work.ok()) return work.error();
  reduce_ = *work;
  return {};
}

Status ShardedUnit::finish_reduce() {
  if (reduce_ == nullptr) return {};
  PDSIM_TRY(std::exchange(reduce_, nullptr)->wait());
  nn::Tensor sum = shard_.grad();
  if (sum.defined())
    add_to(sum, reduced_);
  else
    shard_.set_grad(reduced_);
  reduced_ = {};
  if (stage_ > 1) drop_gradient();
  return {};
}

}  // namespace pdsim
