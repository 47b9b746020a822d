#include "core/parallel/model_check.h"

#include "core/parallel/coalesced.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

namespace pdsim {
namespace {

using Numbers = std::vector<std::int64_t>;

CallOptions made_for(PurposeKind purpose) {
  CallOptions options;
  options.purpose = purpose;
  return options;
}

Status verify_counts(ProcessGroup& group, std::size_t parameters) {
  const auto mine = static_cast<std::int64_t>(parameters);
  struct Buffers {
    Numbers in, out;
  };
  const auto buffers = std::make_shared<Buffers>();
  buffers->in = {mine};
  buffers->out.resize(static_cast<std::size_t>(group.size()));
  PDSIM_TRY(wait(keeping(
      buffers, group.all_gather(view_of(buffers->in), view_of(buffers->out), made_for(PurposeKind::parameter_count)))));
  for (Rank r = 0; r < group.size(); ++r) {
    const std::int64_t theirs = buffers->out[static_cast<std::size_t>(r)];
    if (theirs == mine) continue;
    return Error{Code::model_differs,
                 fmt::format("rank {} has {} parameters and rank {} has {}; DDP needs the same model on every rank",
                             group.global_rank(group.rank()), mine, group.global_rank(r), theirs),
                 {{"parameters", std::to_string(mine)},
                  {"peer", std::to_string(group.global_rank(r))},
                  {"peer_parameters", std::to_string(theirs)}}};
  }
  return {};
}

void append_sizes_and_strides(const nn::Shape& shape, Numbers& to) {
  to.insert(to.end(), shape.begin(), shape.end());
  Numbers strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * shape[d - 1];
  to.insert(to.end(), strides.begin(), strides.end());
}

Error shape_differs(ProcessGroup& group, const nn::Tensor& parameter, std::size_t index, const Numbers& theirs) {
  return {Code::model_differs,
          fmt::format("parameter {} ({}) has sizes [{}] on rank {} and [{}] on rank {}", index, parameter.name(),
                      fmt::join(parameter.shape(), ", "), group.global_rank(group.rank()), fmt::join(theirs, ", "),
                      group.global_rank(0)),
          {{"parameter", parameter.name()}, {"index", std::to_string(index)}}};
}

Status verify_shapes(ProcessGroup& group, std::span<const nn::Tensor> parameters) {
  Numbers mine;
  for (const nn::Tensor& p : parameters) append_sizes_and_strides(p.shape(), mine);
  const auto root = std::make_shared<Numbers>(mine);
  PDSIM_TRY(wait(keeping(root, group.broadcast(view_of(*root), 0, made_for(PurposeKind::parameter_sizes)))));
  auto at = mine.begin();
  auto theirs = root->begin();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto dims = static_cast<std::ptrdiff_t>(parameters[i].shape().size());
    if (!std::equal(at, at + 2 * dims, theirs)) return shape_differs(group, parameters[i], i, {theirs, theirs + dims});
    at += 2 * dims;
    theirs += 2 * dims;
  }
  return {};
}

}  // namespace

Status verify_same_model(ProcessGroup& group, std::span<const nn::Tensor> parameters) {
  PDSIM_TRY(verify_counts(group, parameters.size()));
  return verify_shapes(group, parameters);
}

}  // namespace pdsim
