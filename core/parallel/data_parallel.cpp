#include "core/parallel/data_parallel.h"

#include "core/nn/functional.h"
#include "core/parallel/distributed_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

std::int64_t bytes_of(const std::vector<nn::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const nn::Tensor& t : tensors) bytes += t.view().bytes();
  return bytes;
}

}  // namespace

nn::Module& DataParallel::replica(std::size_t device, std::int64_t rows, std::int64_t batch) {
  replicas_.push_back(module_.replica(device == 0));
  nn::Module& made = *replicas_.back();
  made.set_noise(Random(forwards_).stream("replica", device));
  made.set_clock([this, device, rows, batch](Time cost) {
    const Time share{
        static_cast<std::int64_t>(static_cast<Wide>(cost.ps) * static_cast<Wide>(rows) / static_cast<Wide>(batch))};
    working_[device] += share;
    loads_[device].computing += share;
  });
  return made;
}

Result<nn::Tensor> DataParallel::forward(const nn::Tensor& input, std::string_view path, nn::ForwardMode mode,
                                         const nn::TensorWatcher& watch) {
  const std::int64_t batch = input.shape().empty() ? 0 : input.shape()[0];
  if (batch < 1)
    return Error{Code::invalid_argument, "DataParallel splits a batch along its rows, and this has none", {}};
  ++forwards_;
  loads_.assign(static_cast<std::size_t>(options_.devices), {});
  working_.assign(loads_.size(), {});
  std::vector<nn::Tensor> outputs;
  std::int64_t first_row = 0;
  const std::int64_t columns = input.numel() / batch;
  for (const std::int64_t rows : chunk_sizes(batch, options_.devices)) {
    const std::size_t device = outputs.size();
    loads_[device].rows = rows;
    nn::Module& made = replica(device, rows, batch);
    nn::Shape shape = input.shape();
    shape[0] = rows;
    const Result<nn::Tensor> output =
        made.forward(input.slice(first_row * columns, std::move(shape)), path, mode, watch);
    if (!output.ok()) {
      const Error& error = output.error();
      return Error{error.code, fmt::format("in replica {}: {}", device, error.message), error.facts};
    }
    loads_[device].activation_bytes = made.activation_bytes();
    outputs.push_back(*output);
    first_row += rows;
  }
  account(batch, input, outputs);
  runtime_.compute(forward_time(input));
  nn::Tensor gathered = outputs.front();
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    const Result<nn::Tensor> both = nn::concatenate_rows(gathered, outputs[i]);
    if (!both.ok()) return both;
    gathered = *both;
  }
  if (!mode.grad) replicas_.clear();
  return gathered;
}

void DataParallel::account(std::int64_t batch, const nn::Tensor& input, const std::vector<nn::Tensor>& outputs) {
  const std::int64_t state = bytes_of(module_.parameters()) + bytes_of(module_.buffers());
  output_bytes_.clear();
  std::int64_t gathered = 0;
  for (const nn::Tensor& output : outputs) {
    const std::int64_t bytes = output.view().bytes();
    DeviceLoad& load = loads_[output_bytes_.size()];
    load.parameter_bytes = state;
    load.gradient_bytes = bytes_of(module_.parameters());
    load.activation_bytes += input.view().bytes() / batch * load.rows;
    output_bytes_.push_back(bytes);
    gathered += bytes;
  }
  // The originals stand beside the first replica's; their gradients too.
  loads_[0].parameter_bytes += outputs.size() > 1 ? bytes_of(module_.parameters()) : 0;
  loads_[0].gradient_bytes += outputs.size() > 1 ? bytes_of(module_.parameters()) : 0;
  loads_[static_cast<std::size_t>(options_.output_device)].activation_bytes += gathered;
}

Time DataParallel::forward_time(const nn::Tensor& input) const {
  const auto out = static_cast<std::size_t>(options_.output_device);
  const std::int64_t state = bytes_of(module_.parameters()) + bytes_of(module_.buffers());
  Time port{};  // of the first device: rows, then replicas
  for (std::size_t d = 1; d < output_bytes_.size(); ++d)
    port += copying(input.view().bytes() / input.shape()[0] * loads_[d].rows);
  std::vector<Time> done(output_bytes_.size());
  for (std::size_t d = 1; d < done.size(); ++d) {
    port += copying(state);
    done[d] = port + options_.latency + working_[d];
  }
  done[0] = port + working_[0];
  Time arrivals{}, end{};
  for (std::size_t d = 0; d < done.size(); ++d) {
    end = std::max(end, done[d]);
    if (d == out) continue;
    arrivals = std::max(arrivals, done[d]) + copying(output_bytes_[d]);
    end = std::max(end, arrivals + options_.latency);
  }
  return end;
}

Status DataParallel::backward(std::span<const nn::Tensor> losses) {
  working_.assign(loads_.size(), {});
  nn::BackwardPass pass;
  const Status status = pass.run(losses);
  replicas_.clear();
  if (status.ok()) runtime_.compute(backward_time());
  return status;
}

Time DataParallel::backward_time() const {
  const auto out = static_cast<std::size_t>(options_.output_device);
  Time port{}, end{};
  for (std::size_t d = 0; d < output_bytes_.size(); ++d) {
    if (d != out) port += copying(output_bytes_[d]);
    end = std::max(end, (d != out ? port + options_.latency : Time{}) + working_[d]);
  }
  if (output_bytes_.size() < 2) return end;
  return end + options_.latency +
         copying(bytes_of(module_.parameters())) * static_cast<std::int64_t>(output_bytes_.size() - 1);
}

}  // namespace pdsim
