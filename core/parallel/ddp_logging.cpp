#include "core/parallel/ddp_logging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pdsim {
namespace {

constexpr std::int64_t ps_per_ns = 1000;

std::string flag(bool b) { return b ? "1" : "0"; }
std::string nanoseconds(Time t) { return std::to_string(t.ps / ps_per_ns); }

template <class List>
std::string list(const List& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

void add_times(std::map<std::string, std::string>& text, const std::string& prefix, const StepTimes::Spans& spans) {
  text[prefix + "forward_compute_time"] = nanoseconds(spans.forward_compute);
  text[prefix + "backward_compute_time"] = nanoseconds(spans.backward_compute);
  text[prefix + "backward_comm_time"] = nanoseconds(spans.backward_comm);
  text[prefix + "backward_compute_comm_overlap_time"] = nanoseconds(spans.backward_compute_comm_overlap);
}

}  // namespace

void StepTimes::forward_began(Time now) {
  at_[forward] = now;
  for (bool& seen : seen_) seen = false;
  seen_[forward] = true;
}

void StepTimes::backward_began(Time now) {
  if (!seen_[backward]) at_[backward] = now;
  seen_[backward] = true;
}

void StepTimes::communication_began(Time now) {
  if (!seen_[communication]) at_[communication] = now;
  seen_[communication] = true;
}

void StepTimes::backward_ended(Time now) {
  at_[computed] = now;
  seen_[computed] = true;
}

void StepTimes::communication_ended(Time now) {
  at_[communicated] = now;
  seen_[communicated] = true;
}

void StepTimes::end_iteration() {
  for (const bool seen : seen_)
    if (!seen) return;
  last_.forward_compute = at_[backward] - at_[forward];
  last_.backward_compute = at_[computed] - at_[backward];
  last_.backward_comm = at_[communicated] - at_[communication];
  last_.backward_compute_comm_overlap = at_[computed] - at_[communication];
  total_.forward_compute = total_.forward_compute + last_.forward_compute;
  total_.backward_compute = total_.backward_compute + last_.backward_compute;
  total_.backward_comm = total_.backward_comm + last_.backward_comm;
  total_.backward_compute_comm_overlap = total_.backward_compute_comm_overlap + last_.backward_compute_comm_overlap;
  ++iterations_;
  seen_[forward] = false;
}

StepTimes::Spans StepTimes::average() const {
  if (iterations_ == 0) return {};
  return {Time{total_.forward_compute.ps / iterations_}, Time{total_.backward_compute.ps / iterations_},
          Time{total_.backward_comm.ps / iterations_}, Time{total_.backward_compute_comm_overlap.ps / iterations_}};
}

std::map<std::string, std::string> DdpLogging::as_text() const {
  std::map<std::string, std::string> text{
      {"world_size", std::to_string(world_size)},
      {"rank", std::to_string(rank)},
      {"dtypes", dtypes},
      {"bucket_sizes", list(bucket_sizes)},
      {"rebuilt_bucket_sizes", list(rebuilt_bucket_sizes)},
      {"prev_iteration_grad_ready_order_indices", list(prev_iteration_grad_ready_order_indices)},
      {"bucket_cap_bytes", std::to_string(bucket_cap_bytes)},
      {"broadcast_buffers", flag(broadcast_buffers)},
      {"find_unused_parameters", flag(find_unused_parameters)},
      {"gradient_as_bucket_view", flag(gradient_as_bucket_view)},
      {"static_graph", flag(static_graph)},
      {"has_rebuilt_buckets", flag(has_rebuilt_buckets)},
      {"has_sync_bn", flag(has_sync_bn)},
      {"num_parameter_tensors", std::to_string(num_parameter_tensors)},
      {"total_parameter_size_bytes", std::to_string(total_parameter_size_bytes)},
      {"iteration", std::to_string(iteration)},
      {"unused_parameter_size", std::to_string(unused_parameter_size)},
      {"num_buckets_reduced", std::to_string(num_buckets_reduced)},
      {"comm_hook", comm_hook}};
  std::string& indices = text["rebuilt_per_bucket_param_indices"];
  for (const auto& bucket : rebuilt_per_bucket_param_indices)
    indices += (indices.empty() ? "" : ", ") + fmt::format("{}", fmt::join(bucket, " "));
  add_times(text, "", last);
  add_times(text, "avg_", average);
  return text;
}

std::string name_of(CommHookSpec::Kind kind) {
  switch (kind) {
    case CommHookSpec::Kind::allreduce:
      return "allreduce";
    case CommHookSpec::Kind::fp16_compress:
      return "fp16_compress";
    case CommHookSpec::Kind::bf16_compress:
      return "bf16_compress";
    case CommHookSpec::Kind::powersgd:
      return "powersgd";
    case CommHookSpec::Kind::none:
      break;
  }
  return "";
}

}  // namespace pdsim
