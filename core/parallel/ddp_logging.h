// DDP's logging data, with the keys of torch's _get_ddp_logging_data.
#pragma once

#include "core/base/quantity.h"
#include "core/parallel/bucket_layout.h"
#include "core/semantics/ddp_options.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace pdsim {

// Five moments of an iteration and the times between them: for the last iteration, and on average.
class StepTimes {
 public:
  struct Spans {
    Time forward_compute{}, backward_compute{}, backward_comm{}, backward_compute_comm_overlap{};
  };
  void forward_began(Time now);
  void backward_began(Time now);  // the first gradient; later calls in an iteration are ignored
  void communication_began(Time now);
  void backward_ended(Time now);
  void communication_ended(Time now);  // the last call of an iteration counts
  void end_iteration();                // adds it to the average, if it was synchronised
  const Spans& last() const { return last_; }
  Spans average() const;

 private:
  enum Moment : std::uint8_t { forward, backward, communication, computed, communicated, count };
  Time at_[count]{};
  bool seen_[count]{};
  Spans last_{}, total_{};
  std::int64_t iterations_ = 0;
};

// A text, numbers (one or several; flags are 0 and 1, times in nanoseconds), or lists of numbers by bucket.
using LoggedValue = std::variant<std::string, std::vector<std::int64_t>, std::vector<std::vector<std::int64_t>>>;

struct DdpLogging {
  std::int64_t world_size = 0;
  std::int64_t rank = 0;
  std::string dtypes;  // of the parameters, in order of first appearance: "float, double"
  std::vector<std::int64_t> bucket_sizes;
  std::vector<std::int64_t> rebuilt_bucket_sizes;
  BucketLayout rebuilt_per_bucket_param_indices;
  std::vector<std::size_t> prev_iteration_grad_ready_order_indices;
  std::int64_t bucket_cap_bytes = 0;
  bool broadcast_buffers = true;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool has_rebuilt_buckets = false;
  bool has_sync_bn = false;
  std::int64_t num_parameter_tensors = 0;
  std::int64_t total_parameter_size_bytes = 0;
  std::int64_t iteration = 0;
  std::int64_t unused_parameter_size = 0;
  std::int64_t num_buckets_reduced = 0;  // in the last synchronised iteration; PyTorch 2.x
  std::string comm_hook;                 // empty: none
  StepTimes::Spans last{}, average{};

  // Every key of PyTorch's that has a meaning here.
  std::map<std::string, LoggedValue> entries() const;
  // The same as PyTorch prints it: numbers, "64, 32", times in nanoseconds.
  std::map<std::string, std::string> as_text() const;
};

std::string name_of(CommHookSpec::Kind kind);  // as scenario files write it; empty for none

}  // namespace pdsim
