// DataParallel: one process that splits each batch over several devices (torch.nn.DataParallel).
//
//   forward   splits the rows into torch.chunk's pieces, so the last may be smaller and some devices may get none; gives
//             each device with rows a replica: parameters are differentiable copies, buffers are copies, except that those of
//             the first device are the module's own; applies them, and gathers the outputs on the output device
//   backward  the gradients of all replicas are summed (not averaged) into the module's
//   lost      writes of replicas to their buffers, except the first device's
//   time      copies leave and reach a device one after another through its port; the first device sends rows and
//             parameters before it starts itself, the others start when theirs have arrived; forward ends with the last
//             output's arrival, backward with that of the last gradients. A layer's time is that of the whole batch,
//             and a device takes its share of it; layers without one take none
//   errors    those of Module::forward and BackwardPass, invalid_argument for a batch without rows
//   threads   the rank's own
//   source    torch/nn/parallel (data_parallel.py, scatter_gather.py, replicate.py)
#pragma once

#include "core/base/quantity.h"
#include "core/nn/module.h"
#include "core/runtime/runtime.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace pdsim {

struct DataParallelOptions {
  int devices = 1;
  int output_device = 0;
  Time latency{};  // of a copy from device to device
  Rate bandwidth{};
};

// The load of one step on a device.
struct DeviceLoad {
  std::int64_t rows = 0;
  std::int64_t parameter_bytes = 0;   // and buffers
  std::int64_t gradient_bytes = 0;    // on the first device those of the module and of the replica
  std::int64_t activation_bytes = 0;  // outputs of the layers; on the output device also the gathered ones
  Time computing{};                   // forward and backward
};

class DataParallel {
 public:
  // The module and the runtime must outlive it.
  DataParallel(nn::Module& module, const DataParallelOptions& options, Runtime& runtime)
      : module_(module), options_(options), runtime_(runtime) {}

  Result<nn::Tensor> forward(const nn::Tensor& input, std::string_view path, nn::ForwardMode mode,
                             const nn::TensorWatcher& watch = {});
  Status backward(std::span<const nn::Tensor> losses);
  // The loads of the last forward and its backward, one for each device.
  const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  nn::Module& replica(std::size_t device, std::int64_t rows, std::int64_t batch);
  void account(std::int64_t batch, const nn::Tensor& input, const std::vector<nn::Tensor>& outputs);
  Time copying(std::int64_t bytes) const { return transfer_time(Bytes{bytes}, options_.bandwidth); }
  Time forward_time(const nn::Tensor& input) const;
  Time backward_time() const;

  nn::Module& module_;
  DataParallelOptions options_;
  Runtime& runtime_;
  std::vector<std::unique_ptr<nn::Module>> replicas_;  // kept until their backward is over
  std::vector<DeviceLoad> loads_;
  std::vector<Time> working_;               // in the current pass, by device
  std::vector<std::int64_t> output_bytes_;  // in the last forward, by device with rows
  std::uint64_t forwards_ = 0;
};

}  // namespace pdsim
