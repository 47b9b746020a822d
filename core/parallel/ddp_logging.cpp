#include "core/parallel/ddp_logging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace pdsim {
namespace {

constexpr std::int64_t ps_per_ns = 1000;

using Numbers = std::vector<std::int64_t>;

Numbers nanoseconds(Time t) { return {t.ps / ps_per_ns}; }

template <class List>
Numbers numbers_of(const List& values) {
  Numbers numbers;
  for (const auto value : values) numbers.push_back(static_cast<std::int64_t>(value));
  return numbers;
}

void add_times(std::map<std::string, LoggedValue>& entries, const std::string& prefix, const StepTimes::Spans& spans) {
  entries[prefix + "forward_compute_time"] = nanoseconds(spans.forward_compute);
  entries[prefix + "backward_compute_time"] = nanoseconds(spans.backward_compute);
  entries[prefix + "backward_comm_time"] = nanoseconds(spans.backward_comm);
  entries[prefix + "backward_compute_comm_overlap_time"] = nanoseconds(spans.backward_compute_comm_overlap);
}

std::string text_of(const std::string& value) { return value; }
std::string text_of(const Numbers& value) { return fmt::format("{}", fmt::join(value, ", ")); }
std::string text_of(const std::vector<Numbers>& value) {
  std::string text;
  for (const Numbers& list : value) text += (text.empty() ? "" : ", ") + fmt::format("{}", fmt::join(list, " "));
  return text;
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

std::map<std::string, LoggedValue> DdpLogging::entries() const {
  std::map<std::string, LoggedValue> all{
      {"world_size", Numbers{world_size}},
      {"rank", Numbers{rank}},
      {"dtypes", dtypes},
      {"bucket_sizes", bucket_sizes},
      {"rebuilt_bucket_sizes", rebuilt_bucket_sizes},
      {"prev_iteration_grad_ready_order_indices", numbers_of(prev_iteration_grad_ready_order_indices)},
      {"bucket_cap_bytes", Numbers{bucket_cap_bytes}},
      {"broadcast_buffers", Numbers{broadcast_buffers ? 1 : 0}},
      {"find_unused_parameters", Numbers{find_unused_parameters ? 1 : 0}},
      {"gradient_as_bucket_view", Numbers{gradient_as_bucket_view ? 1 : 0}},
      {"static_graph", Numbers{static_graph ? 1 : 0}},
      {"has_rebuilt_buckets", Numbers{has_rebuilt_buckets ? 1 : 0}},
      {"has_sync_bn", Numbers{has_sync_bn ? 1 : 0}},
      {"num_parameter_tensors", Numbers{num_parameter_tensors}},
      {"total_parameter_size_bytes", Numbers{total_parameter_size_bytes}},
      {"iteration", Numbers{iteration}},
      {"unused_parameter_size", Numbers{unused_parameter_size}},
      {"num_buckets_reduced", Numbers{num_buckets_reduced}},
      {"comm_hook", comm_hook}};
  std::vector<Numbers> indices;
  for (const auto& bucket : rebuilt_per_bucket_param_indices) indices.push_back(numbers_of(bucket));
  all["rebuilt_per_bucket_param_indices"] = std::move(indices);
  add_times(all, "", last);
  add_times(all, "avg_", average);
  return all;
}

std::map<std::string, std::string> DdpLogging::as_text() const {
  std::map<std::string, std::string> text;
  for (const auto& [key, value] : entries())
    text[key] = std::visit([](const auto& held) { return text_of(held); }, value);
  return text;
}

std::string name_of(CommHookSpec::Kind kind) {
  for (const CommHookRow& row : comm_hook_table)
    if (row.kind == kind) return std::string(row.name);
  return "";
}

}  // namespace pdsim
