#include "backends/gloo/native.h"

#include "backends/gloo/errors.h"
#include "core/base/check.h"
#include "core/collectives/reduce.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace pdsim {
namespace {

using ContextPtr = std::shared_ptr<::gloo::Context>;
using Byte = std::uint8_t;

// Gloo takes inputs through pointers to non-const, and does not write them.
Byte* bytes(ConstView v) { return reinterpret_cast<Byte*>(const_cast<std::byte*>(v.data)); }
std::size_t size(ConstView v) { return static_cast<std::size_t>(v.bytes()); }

template <class Options>
void set_common(Options& options, const Collective& call) {
  options.setTag(static_cast<std::uint32_t>(call.seq));
  options.setTimeout(gloo_timeout(call.timeout.ps));
}

// Gloo's reduction function writes a third buffer, which may be one of the two it reads.
auto reduction(const Collective& call) {
  const DType dtype = call.dtype;
  const ReduceOp op = call.op;
  return [dtype, op](void* out, const void* a, const void* b, std::size_t n) {
    const auto count = static_cast<std::int64_t>(n);
    if (out == b) std::swap(a, b);  // every op of the table commutes, bit for bit
    if (out != a) std::memcpy(out, a, n * size_of(dtype));
    reduce({static_cast<std::byte*>(out), dtype, count}, {static_cast<const std::byte*>(b), dtype, count}, op);
  };
}

// Puts this rank's contribution where Gloo reduces in place, scaled as avg and premul_sum ask.
void contribute(const Collective& call, int group_size, MutableView to) {
  double factor = 1.0;
  if (call.op == ReduceOp::avg && row(call.dtype).floating) factor = 1.0 / group_size;
  if (call.op == ReduceOp::premul_sum) factor = call.premul;
  if (factor != 1.0) return scale(to, call.input, factor);
  if (to.data != call.input.data) std::memcpy(to.data, call.input.data, size(to));
}

void finish_average(const Collective& call, int group_size) {
  if (call.op == ReduceOp::avg && !row(call.dtype).floating) divide(call.output, group_size);
}

template <class Options>
void set_elements(Options& options, MutableView v) {
  const auto count = static_cast<std::size_t>(v.count);
  switch (size_of(v.dtype)) {
    case 1:
      return options.setOutput(reinterpret_cast<std::uint8_t*>(v.data), count);
    case 2:
      return options.setOutput(reinterpret_cast<std::uint16_t*>(v.data), count);
    case 4:
      return options.setOutput(reinterpret_cast<std::uint32_t*>(v.data), count);
    default:
      return options.setOutput(reinterpret_cast<std::uint64_t*>(v.data), count);
  }
}

void all_reduce(const ContextPtr& context, const Collective& call) {
  contribute(call, context->size, call.output);
  ::gloo::AllreduceOptions options(context);
  set_common(options, call);
  set_elements(options, call.output);
  options.setReduceFunction(reduction(call));
  ::gloo::allreduce(options);
  finish_average(call, context->size);
}

void reduce_to_root(const ContextPtr& context, const Collective& call) {
  const bool root = context->rank == call.root;
  const bool has_output = root || (call.output.data != nullptr && call.output.count == call.count);  // Gloo's partial sums go there
  std::vector<std::byte> copy(has_output ? 0 : static_cast<std::size_t>(call.input.bytes()));
  const MutableView out = has_output ? call.output : MutableView{copy.data(), call.dtype, call.count};
  contribute(call, context->size, out);
  ::gloo::ReduceOptions options(context);
  set_common(options, call);
  set_elements(options, out);
  options.setRoot(call.root);
  options.setReduceFunction(reduction(call));
  ::gloo::reduce(options);
  if (root) finish_average(call, context->size);
}

void broadcast(const ContextPtr& context, const Collective& call) {
  ::gloo::BroadcastOptions options(context);
  set_common(options, call);
  options.setRoot(call.root);
  if (context->rank == call.root && call.input.data != call.output.data)
    options.setInput(bytes(call.input), size(call.input));
  options.setOutput(bytes(call.output), size(call.output));
  ::gloo::broadcast(options);
}

void all_gather(const ContextPtr& context, const Collective& call) {
  ::gloo::AllgatherOptions options(context);
  set_common(options, call);
  options.setInput(bytes(call.input), size(call.input));
  options.setOutput(bytes(call.output), size(call.output));
  ::gloo::allgather(options);
}

void gather(const ContextPtr& context, const Collective& call) {
  ::gloo::GatherOptions options(context);
  set_common(options, call);
  options.setRoot(call.root);
  options.setInput(bytes(call.input), size(call.input));
  if (context->rank == call.root) options.setOutput(bytes(call.output), size(call.output));
  ::gloo::gather(options);
}

void scatter(const ContextPtr& context, const Collective& call) {
  ::gloo::ScatterOptions options(context);
  set_common(options, call);
  options.setRoot(call.root);
  const std::size_t part = size(call.output);
  if (context->rank == call.root) {
    std::vector<Byte*> parts;
    for (int r = 0; r < context->size; ++r) parts.push_back(bytes(call.input) + part * static_cast<std::size_t>(r));
    options.setInputs(parts, part);
  }
  options.setOutput(bytes(call.output), part);
  ::gloo::scatter(options);
}

void all_to_all(const ContextPtr& context, const Collective& call) {
  std::vector<Byte> copy;
  Byte* input = bytes(call.input);
  if (call.input.data == call.output.data) {
    copy.assign(input, input + size(call.input));
    input = copy.data();
  }
  ::gloo::AlltoallOptions options(context);
  set_common(options, call);
  options.setInput(input, size(call.input));
  options.setOutput(bytes(call.output), size(call.output));
  ::gloo::alltoall(options);
}

void barrier(const ContextPtr& context, const Collective& call) {
  ::gloo::BarrierOptions options(context);
  set_common(options, call);
  ::gloo::barrier(options);
}

struct NativeRow {
  CollectiveKind kind;
  void (*run)(const ContextPtr&, const Collective&);
};
constexpr std::array natives{
    NativeRow{CollectiveKind::all_reduce, all_reduce}, NativeRow{CollectiveKind::reduce, reduce_to_root},
    NativeRow{CollectiveKind::broadcast, broadcast},   NativeRow{CollectiveKind::all_gather, all_gather},
    NativeRow{CollectiveKind::gather, gather},         NativeRow{CollectiveKind::scatter, scatter},
    NativeRow{CollectiveKind::all_to_all, all_to_all}, NativeRow{CollectiveKind::barrier, barrier},
};

}  // namespace

void run_native(const ContextPtr& context, const Collective& call) {
  for (const NativeRow& r : natives)
    if (r.kind == call.kind) return r.run(context, call);
  PDSIM_CHECK(false, "a collective that Gloo does not have was handed to Gloo");
}

}  // namespace pdsim
