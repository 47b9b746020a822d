#include "core/parallel/hooks/comm_hook.h"

#include "core/collectives/half.h"
#include "core/parallel/coalesced.h"
#include "core/parallel/gradient_bucket.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace pdsim {
namespace {

class AllReduceHook final : public CommHook {
 public:
  explicit AllReduceHook(ProcessGroup& group) : group_(group) {}
  Result<HookFuture> start(const HookBucket& bucket, CallOptions call) override {
    return average(group_, bucket.flat, std::move(call));
  }

 private:
  ProcessGroup& group_;
};

struct Half {
  DType dtype;
  std::uint16_t (*from_float)(float);
  float (*to_float)(std::uint16_t);
};
constexpr Half f16{DType::f16, to_f16, from_f16};
constexpr Half bf16{DType::bf16, to_bf16, from_bf16};

// Casts, divides in the short type, sums in it, casts back.
class CompressHook final : public CommHook {
 public:
  CompressHook(const Half& half, ProcessGroup& group) : half_(half), group_(group) {}

  Result<HookFuture> start(const HookBucket& bucket, CallOptions call) override {
    if (!bucket.flat.has_values()) return start_sized(bucket, std::move(call));
    const auto compressed = std::make_shared<std::vector<std::uint16_t>>();
    const auto ranks = static_cast<float>(group_.size());
    for (const double value : bucket.flat.values()) {
      const std::uint16_t cast = half_.from_float(static_cast<float>(value));
      compressed->push_back(half_.from_float(half_.to_float(cast) / ranks));
    }
    const MutableView view{reinterpret_cast<std::byte*>(compressed->data()), half_.dtype,
                           static_cast<std::int64_t>(compressed->size())};
    call.async = true;
    const auto work = keeping(compressed, group_.all_reduce(view, ReduceOp::sum, std::move(call)));
    if (!work.ok()) return work.error();
    return HookFuture([this, compressed, flat = bucket.flat, started = *work]() mutable -> Status {
      PDSIM_TRY(started->wait());
      std::vector<double> values;
      for (const std::uint16_t h : *compressed) values.push_back(half_.to_float(h));
      flat.copy_(nn::Tensor::from(values, flat.shape(), flat.dtype()).view());
      return {};
    });
  }

 private:
  // Half the bytes, and nothing to cast.
  Result<HookFuture> start_sized(const HookBucket& bucket, CallOptions call) {
    nn::Tensor compressed = nn::Tensor::meta(bucket.flat.shape(), half_.dtype, bucket.flat.has_memory());
    call.async = true;
    const auto work = keeping(compressed, group_.all_reduce(compressed.mutable_view(), ReduceOp::sum, std::move(call)));
    if (!work.ok()) return work.error();
    return HookFuture([started = *work] { return started->wait(); });
  }

  const Half& half_;
  ProcessGroup& group_;
};

// Buckets change shape after the first iteration, and the states kept for them would not fit.
Status check(const CommHookSpec& spec) {
  if (spec.start_iter <= 1 && (spec.use_error_feedback || spec.warm_start))
    return Error{
        Code::invalid_argument,
        fmt::format("powersgd with start_iter {} and use_error_feedback or warm_start: the buckets are rebuilt "
                    "after the first iteration, so what is kept for them needs start_iter 2 or more",
                    spec.start_iter),
        {{"start_iter", std::to_string(spec.start_iter)}}};
  return {};
}

}  // namespace

Result<HookFuture> average(ProcessGroup& group, nn::Tensor data, CallOptions call) {
  divide_by(data, group.size());
  call.async = true;
  const auto work = keeping(data, group.all_reduce(data.mutable_view(), ReduceOp::sum, std::move(call)));
  if (!work.ok()) return work.error();
  return HookFuture([started = *work] { return started->wait(); });
}

Result<std::unique_ptr<CommHook>> CommHook::make(const CommHookSpec& spec, ProcessGroup& group) {
  using Kind = CommHookSpec::Kind;
  std::unique_ptr<CommHook> hook;
  if (spec.kind == Kind::allreduce) hook = std::make_unique<AllReduceHook>(group);
  if (spec.kind == Kind::fp16_compress) hook = std::make_unique<CompressHook>(f16, group);
  if (spec.kind == Kind::bf16_compress) hook = std::make_unique<CompressHook>(bf16, group);
  if (spec.kind == Kind::powersgd) {
    PDSIM_TRY(check(spec));
    hook = make_powersgd(spec, group);
  }
  return hook;
}

}  // namespace pdsim
