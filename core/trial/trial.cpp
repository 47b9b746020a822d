#include "core/trial/trial.h"

#include <algorithm>

namespace pdsim {
namespace {

// Elements by which this rank's part lies inside the larger of the two buffers of an in-place call.
std::int64_t own_part(const Payload& p) { return p.rank * p.count; }

bool output_holds_input(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
}

bool input_holds_output(CollectiveKind kind) {
  return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter;
}

}  // namespace

bool has_in_place(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
      return true;
    default:
      return output_holds_input(kind) || input_holds_output(kind);
  }
}

bool is_uneven(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather_v || kind == CollectiveKind::reduce_scatter_v ||
         kind == CollectiveKind::all_to_all_v;
}

TrialMemory::TrialMemory(const Payload& p, bool in_place, bool moves_data)
    : input_{nullptr, p.dtype, p.input_count()}, output_{nullptr, p.dtype, p.output_count()} {
  if (!moves_data) return;
  const std::size_t width = size_of(p.dtype);
  input_bytes_ = p.input();
  const auto output_size = static_cast<std::size_t>(p.output_count()) * width;
  const auto part = static_cast<std::size_t>(own_part(p)) * width;
  if (in_place && input_holds_output(p.kind) && !input_bytes_.empty()) {
    output_.data = input_bytes_.data() + part;
  } else if (in_place && output_size >= input_bytes_.size() && output_size > 0) {
    const std::size_t at = output_holds_input(p.kind) ? part : 0;
    output_bytes_.assign(output_size, std::byte{0xa5});
    std::copy(input_bytes_.begin(), input_bytes_.end(), output_bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    output_.data = output_bytes_.data();
    input_bytes_.clear();
    input_.data = output_.data + at;
    return;
  } else {
    output_bytes_.assign(output_size, std::byte{0xa5});
    output_.data = output_bytes_.data();
    kept_ = input_bytes_;
  }
  input_.data = input_bytes_.data();
}

Collective trial_call(const Payload& p, const TrialMemory& memory) {
  Collective call;
  call.kind = p.kind;
  call.input = memory.input();
  call.output = memory.output();
  call.dtype = p.dtype;
  call.count = p.own_count();
  call.op = p.op;
  call.premul = p.premul;
  call.root = p.root;
  if (is_uneven(p.kind)) call.splits = p.splits();
  return call;
}

Result<WorkPtr> start_trial(ProcessGroup& group, const Payload& p, const TrialMemory& memory,
                            std::string_view algorithm) {
  CallOptions options;
  options.algorithm = algorithm;
  return group.start(trial_call(p, memory), std::move(options));
}

}  // namespace pdsim
