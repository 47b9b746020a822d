#include "core/measure/trial.h"

#include "core/collectives/collective_shape.h"

#include <algorithm>

namespace pdsim {
namespace {

// Elements by which this rank's part lies inside the larger of the two buffers of an in-place call.
std::int64_t own_part(const Payload& p) { return p.rank * p.count; }

}  // namespace

bool has_in_place(CollectiveKind kind) { return in_place_form(kind) != InPlace::none && !row(kind).shape.uneven; }

TrialMemory::TrialMemory(const Payload& p, bool in_place, bool moves_data)
    : input_{nullptr, p.dtype, p.input_count()}, output_{nullptr, p.dtype, p.output_count()} {
  if (!moves_data) return;
  const std::size_t width = size_of(p.dtype);
  input_bytes_ = p.input();
  const auto output_size = static_cast<std::size_t>(p.output_count()) * width;
  const auto part = static_cast<std::size_t>(own_part(p)) * width;
  const InPlace form = in_place ? in_place_form(p.kind) : InPlace::none;
  if (form == InPlace::output_in_input && !input_bytes_.empty()) {
    output_.data = input_bytes_.data() + part;
  } else if (form != InPlace::none && output_size >= input_bytes_.size() && output_size > 0) {
    const std::size_t at = form == InPlace::input_in_output ? part : 0;
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
  if (row(p.kind).shape.uneven) call.splits = p.splits();
  return call;
}

Result<WorkPtr> start_trial(ProcessGroup& group, const Payload& p, const TrialMemory& memory,
                            std::string_view algorithm, const Algorithm* own) {
  CallOptions options;
  options.algorithm = algorithm;
  options.own_algorithm = own;
  return group.start(trial_call(p, memory), std::move(options));
}

}  // namespace pdsim
