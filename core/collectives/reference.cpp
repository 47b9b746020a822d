#include "core/collectives/reference.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/reduce.h"

namespace pdsim {
namespace {

using Buffer = std::vector<std::byte>;

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

}  // namespace

RankBuffers reference_result(const Collective& call, const RankBuffers& inputs) {
  const auto size = static_cast<int>(inputs.size());
  const std::size_t width = size_of(call.dtype);
  CollectiveLayout layout{call.kind, size, call.count, call.root};
  if (row(call.kind).shape.uneven && !row(call.kind).input_in_parts) {
    layout.offsets = {0};
    for (const Buffer& part : inputs)
      layout.offsets.push_back(layout.offsets.back() + static_cast<std::int64_t>(part.size() / width));
  }
  RankBuffers out(inputs.size());
  Buffer sum;
  Rank last_of_sum = no_rank;
  for (Rank rank = 0; rank < size; ++rank) {
    Buffer& mine = out[static_cast<std::size_t>(rank)];
    const std::int64_t elements = layout.output_elements(rank);
    for (std::int64_t i = 0; i < elements;) {
      const Origin from = layout.origin(rank, i);
      if (row(call.kind).reduces && from.last != last_of_sum) {
        sum = reduced(call, RankBuffers(inputs.begin() + from.first, inputs.begin() + from.last + 1));
        last_of_sum = from.last;
      }
      const Buffer& all = row(call.kind).reduces ? sum : inputs[static_cast<std::size_t>(from.first)];
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from.index) * width);
      mine.insert(mine.end(), first, first + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from.run) * width));
      i += from.run;
    }
  }
  return out;
}

}  // namespace pdsim
