// Notes the load that the last step of a train put on the devices.
#include "scenarios/program/device_loads.h"

#include "scenarios/program/batch.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

constexpr int everywhere = -1;

std::int64_t bytes_of(const std::vector<nn::Tensor>& tensors, bool trained_only, int device = everywhere) {
  std::int64_t bytes = 0;
  for (const nn::Tensor& t : tensors)
    if ((!trained_only || t.requires_grad()) && (device == everywhere || t.device() == device))
      bytes += t.view().bytes();
  return bytes;
}

// Adam keeps two numbers for each that it trains, SGD one where it has a momentum.
std::int64_t optimizer_bytes(Session& s, int device = everywhere) {
  const nn::OptimizerSpec& spec = s.scenario.optimizer;
  const std::int64_t trained = bytes_of(s.module->parameters(), true, device);
  const std::int64_t moments = spec.kind == nn::OptimizerSpec::Kind::adam ? 2 : spec.momentum != 0.0 ? 1 : 0;
  return (moments + (spec.copies ? 1 : 0)) * trained;
}

// One device: this rank's.
DeviceLoad own_load(Session& s) {
  DeviceLoad load;
  load.rows = s.rows;
  load.parameter_bytes = bytes_of(s.module->parameters(), false) + bytes_of(s.module->buffers(), false);
  load.gradient_bytes = bytes_of(s.module->parameters(), true);
  if (s.ddp != nullptr && !s.scenario.ddp.options.gradient_as_bucket_view) load.gradient_bytes *= 2;  // and the buckets
  const std::int64_t columns = widths_of(*s.module, "").input;
  load.activation_bytes = s.module->activation_bytes() +
                          load.rows * columns * static_cast<std::int64_t>(size_of(s.scenario.model.spec.dtype));
  load.computing = s.computing;
  return load;
}

// Those on which layers of this rank are.
std::vector<DeviceLoad> loads_of_layers(Session& s) {
  std::vector<DeviceLoad> loads(s.module->device_times().size());
  const std::int64_t buckets = s.ddp != nullptr && !s.scenario.ddp.options.gradient_as_bucket_view ? 2 : 1;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const int device = static_cast<int>(i);
    loads[i].rows = s.rows;
    loads[i].parameter_bytes =
        bytes_of(s.module->parameters(), false, device) + bytes_of(s.module->buffers(), false, device);
    loads[i].gradient_bytes = buckets * bytes_of(s.module->parameters(), true, device);
    loads[i].activation_bytes = s.module->device_activations()[i];
    loads[i].computing = s.module->device_times()[i];
  }
  return loads;
}

// "3", or "1.0" for device 0 of rank 1 where layers are on several.
std::string name_of_device(const Session& s, std::size_t index, bool of_layers) {
  if (s.data_parallel != nullptr || (of_layers && s.world_size() == 1)) return std::to_string(index);
  return of_layers ? fmt::format("{}.{}", s.env.rank, index) : std::to_string(s.env.rank);
}

}  // namespace

void note_device_loads(Session& s, Time step) {
  if (s.module == nullptr) return;
  const bool of_layers = s.module->device_times().size() > 1;
  if (!s.scenario.data_parallel && !of_layers) return;
  const std::vector<DeviceLoad> loads = s.data_parallel != nullptr ? s.data_parallel->loads()
                                        : of_layers                ? loads_of_layers(s)
                                                                   : std::vector<DeviceLoad>{own_load(s)};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const DeviceLoad& load = loads[i];
    const std::int64_t moments = of_layers ? optimizer_bytes(s, static_cast<int>(i)) : i == 0 ? optimizer_bytes(s) : 0;
    s.env.recorder.note(notes::DeviceLoad{name_of_device(s, i, of_layers), load.rows, load.parameter_bytes,
                                          load.gradient_bytes, moments, load.activation_bytes, load.computing, step,
                                          s.data_parallel != nullptr});
  }
}

}  // namespace pdsim::scenarios::operations
