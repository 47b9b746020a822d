// One trial of a collective: its memory, in place or not, the call, and the check.
#pragma once

#include "core/group/process_group.h"
#include "core/measure/payload.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace pdsim {

// Whether the kind has an in-place form: input and output are the same memory, or one is this rank's part of the other.
bool has_in_place(CollectiveKind kind);

// The memory of one call on one rank.
class TrialMemory {
 public:
  // Holds the payload's input. Without `moves_data` no memory is allocated, and the views are null.
  TrialMemory(const Payload& payload, bool in_place, bool moves_data);
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  ConstView input() const { return input_; }
  MutableView output() const { return output_; }
  // Out of place: whether the input is unchanged.
  bool input_is_untouched() const { return kept_.empty() || input_bytes_ == kept_; }

 private:
  std::vector<std::byte> input_bytes_, output_bytes_, kept_;
  ConstView input_;
  MutableView output_;
};

Collective trial_call(const Payload& payload, const TrialMemory& memory);

// Starts the call on the group; `memory` must outlive the Work.
Result<WorkPtr> start_trial(ProcessGroup& group, const Payload& payload, const TrialMemory& memory,
                            std::string_view algorithm, const Algorithm* own = nullptr);

}  // namespace pdsim
