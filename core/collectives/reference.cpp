#include "core/collectives/reference.h"

#include "core/collectives/reduce.h"

namespace pdsim {
namespace {

using Buffer = std::vector<std::byte>;

Buffer slice_of(const Buffer& all, std::size_t index, std::size_t bytes) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(index * bytes);
  return {first, first + static_cast<std::ptrdiff_t>(bytes)};
}

Buffer reduced(const Collective& call, const RankBuffers& inputs) {
  const auto elements = static_cast<std::int64_t>(inputs[0].size() / size_of(call.dtype));
  const bool floating = row(call.dtype).floating;
  const auto n = static_cast<double>(inputs.size());
  double factor = 1.0;
  if (call.op == ReduceOp::premul_sum) factor = call.premul;
  if (call.op == ReduceOp::avg && floating) factor = 1.0 / n;
  Buffer sum;
  for (const Buffer& input : inputs) {
    Buffer scaled = input;
    const MutableView view{scaled.data(), call.dtype, elements};
    if (factor != 1.0) scale(view, view, factor);
    if (sum.empty()) {
      sum = std::move(scaled);
    } else {
      reduce({sum.data(), call.dtype, elements}, view, call.op);
    }
  }
  const MutableView view{sum.data(), call.dtype, elements};
  if (call.op == ReduceOp::avg && !floating) divide(view, static_cast<std::int64_t>(inputs.size()));
  return sum;
}

Buffer concatenated(const RankBuffers& parts) {
  Buffer all;
  for (const Buffer& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

RankBuffers reference_result(const Collective& call, const RankBuffers& inputs) {
  const std::size_t p = inputs.size();
  const auto root = static_cast<std::size_t>(call.root);
  const std::size_t part = static_cast<std::size_t>(call.count) * size_of(call.dtype);
  RankBuffers out(p);
  switch (call.kind) {
    case CollectiveKind::broadcast:
      out.assign(p, inputs[root]);
      break;
    case CollectiveKind::all_reduce:
      out.assign(p, reduced(call, inputs));
      break;
    case CollectiveKind::reduce:
      out[root] = reduced(call, inputs);
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::all_gather_v:
      out.assign(p, concatenated(inputs));
      break;
    case CollectiveKind::gather:
      out[root] = concatenated(inputs);
      break;
    case CollectiveKind::scatter:
      for (std::size_t r = 0; r < p; ++r) out[r] = slice_of(inputs[root], r, part);
      break;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_v: {
      const Buffer sum = reduced(call, inputs);
      for (std::size_t r = 0; r < p; ++r) out[r] = slice_of(sum, r, part);
      break;
    }
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
      for (std::size_t r = call.kind == CollectiveKind::scan ? 0 : 1; r < p; ++r) {
        const auto last = inputs.begin() + static_cast<std::ptrdiff_t>(call.kind == CollectiveKind::scan ? r + 1 : r);
        out[r] = reduced(call, RankBuffers(inputs.begin(), last));
      }
      break;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
      for (std::size_t r = 0; r < p; ++r)
        for (std::size_t from = 0; from < p; ++from) {
          const Buffer block = slice_of(inputs[from], r, part);
          out[r].insert(out[r].end(), block.begin(), block.end());
        }
      break;
    default:
      break;
  }
  return out;
}

}  // namespace pdsim
