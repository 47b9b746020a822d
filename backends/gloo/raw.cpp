#include "backends/gloo/raw.h"

#include "backends/gloo/errors.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using ContextPtr = std::shared_ptr<::gloo::Context>;
using Byte = std::uint8_t;
using Kernel = void (*)(void*, const void*, const void*, std::size_t);

Byte* bytes(ConstView v) { return reinterpret_cast<Byte*>(const_cast<std::byte*>(v.data)); }
std::size_t size(ConstView v) { return static_cast<std::size_t>(v.bytes()); }

template <class T>
Kernel kernel_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return &::gloo::sum<T>;
    case ReduceOp::product:
      return &::gloo::product<T>;
    case ReduceOp::min:
      return &::gloo::min<T>;
    case ReduceOp::max:
      return &::gloo::max<T>;
    default:
      return nullptr;
  }
}

// Calls f(T{}) with the type of the elements that Gloo's own kernels take.
template <class F>
Result<RawCaller::Run> with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::i8:
      return f(std::int8_t{});
    case DType::u8:
      return f(std::uint8_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::i64:
      return f(std::int64_t{});
    default:
      return Error{Code::unsupported, "Gloo has no kernel of its own for this dtype", {}};
  }
}

// `options` stay as they are from call to call, so what they point to is kept beside them.
template <class Options>
RawCaller::Run run_of(void (*function)(Options&), std::shared_ptr<Options> options,
                      std::shared_ptr<std::vector<std::byte>> scratch = nullptr) {
  return [function, options = std::move(options), scratch = std::move(scratch)] {
    return guarded([&] {
      function(*options);
      return Status{};
    });
  };
}

Result<RawCaller::Run> all_reduce(const ContextPtr& context, const Collective& call) {
  return with_type(call.dtype, [&](auto element) -> Result<RawCaller::Run> {
    using T = decltype(element);
    auto options = std::make_shared<::gloo::AllreduceOptions>(context);
    const auto count = static_cast<std::size_t>(call.count);
    if (call.input.data != call.output.data) options->setInput(reinterpret_cast<T*>(bytes(call.input)), count);
    options->setOutput(reinterpret_cast<T*>(call.output.data), count);
    options->setReduceFunction(kernel_of<T>(call.op));
    return RawCaller::Run([options] {
      return guarded([&] {
        ::gloo::allreduce(*options);
        return Status{};
      });
    });
  });
}

// Ranks other than the root need an output too, which Gloo uses as it likes.
Result<RawCaller::Run> reduce_to_root(const ContextPtr& context, const Collective& call) {
  return with_type(call.dtype, [&](auto element) -> Result<RawCaller::Run> {
    using T = decltype(element);
    auto options = std::make_shared<::gloo::ReduceOptions>(context);
    const auto count = static_cast<std::size_t>(call.count);
    const bool root = context->rank == call.root;
    auto scratch = std::make_shared<std::vector<std::byte>>(root ? 0 : size(call.input));
    if (!root || call.input.data != call.output.data) options->setInput(reinterpret_cast<T*>(bytes(call.input)), count);
    options->setOutput(reinterpret_cast<T*>(root ? call.output.data : scratch->data()), count);
    options->setRoot(call.root);
    options->setReduceFunction(kernel_of<T>(call.op));
    return run_of(&::gloo::reduce, options, scratch);
  });
}

Result<RawCaller::Run> broadcast(const ContextPtr& context, const Collective& call) {
  auto options = std::make_shared<::gloo::BroadcastOptions>(context);
  options->setRoot(call.root);
  if (context->rank == call.root && call.input.data != call.output.data)
    options->setInput(bytes(call.input), size(call.input));
  options->setOutput(bytes(call.output), size(call.output));
  return run_of(&::gloo::broadcast, options);
}

Result<RawCaller::Run> all_gather(const ContextPtr& context, const Collective& call) {
  auto options = std::make_shared<::gloo::AllgatherOptions>(context);
  options->setInput(bytes(call.input), size(call.input));
  options->setOutput(bytes(call.output), size(call.output));
  return run_of(&::gloo::allgather, options);
}

Result<RawCaller::Run> gather(const ContextPtr& context, const Collective& call) {
  auto options = std::make_shared<::gloo::GatherOptions>(context);
  options->setRoot(call.root);
  options->setInput(bytes(call.input), size(call.input));
  if (context->rank == call.root) options->setOutput(bytes(call.output), size(call.output));
  return run_of(&::gloo::gather, options);
}

Result<RawCaller::Run> scatter(const ContextPtr& context, const Collective& call) {
  auto options = std::make_shared<::gloo::ScatterOptions>(context);
  options->setRoot(call.root);
  const std::size_t part = size(call.output);
  if (context->rank == call.root) {
    std::vector<Byte*> parts;
    for (int r = 0; r < context->size; ++r) parts.push_back(bytes(call.input) + part * static_cast<std::size_t>(r));
    options->setInputs(parts, part);
  }
  options->setOutput(bytes(call.output), part);
  return run_of(&::gloo::scatter, options);
}

Result<RawCaller::Run> all_to_all(const ContextPtr& context, const Collective& call) {
  auto options = std::make_shared<::gloo::AlltoallOptions>(context);
  options->setInput(bytes(call.input), size(call.input));
  options->setOutput(bytes(call.output), size(call.output));
  return run_of(&::gloo::alltoall, options);
}

Result<RawCaller::Run> barrier(const ContextPtr& context, const Collective&) {
  return run_of(&::gloo::barrier, std::make_shared<::gloo::BarrierOptions>(context));
}

struct RawRow {
  CollectiveKind kind;
  Result<RawCaller::Run> (*prepare)(const ContextPtr&, const Collective&);
};
constexpr std::array rows{
    RawRow{CollectiveKind::all_reduce, all_reduce}, RawRow{CollectiveKind::reduce, reduce_to_root},
    RawRow{CollectiveKind::broadcast, broadcast},   RawRow{CollectiveKind::all_gather, all_gather},
    RawRow{CollectiveKind::gather, gather},         RawRow{CollectiveKind::scatter, scatter},
    RawRow{CollectiveKind::all_to_all, all_to_all}, RawRow{CollectiveKind::barrier, barrier},
};

class GlooRawCaller final : public RawCaller {
 public:
  explicit GlooRawCaller(ContextPtr context) : context_(std::move(context)) {}
  Result<Run> prepare(const Collective& call, int form) override {
    Result<Run> run = Error{Code::unsupported, "Gloo has no such function", {}};
    for (const RawRow& r : rows)
      if (r.kind == call.kind && form == 0) {
        const Status status = guarded([&] {
          run = r.prepare(context_, call);
          return Status{};
        });
        if (!status.ok()) return status.error();
      }
    return run;
  }

 private:
  ContextPtr context_;
};

}  // namespace

std::unique_ptr<RawCaller> make_gloo_raw_caller(ContextPtr context) {
  return std::make_unique<GlooRawCaller>(std::move(context));
}

}  // namespace pdsim
