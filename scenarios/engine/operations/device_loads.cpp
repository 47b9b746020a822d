// What the last step of a train asked of the devices, as notes.
#include "scenarios/engine/device_table.h"
#include "scenarios/engine/operations/batch.h"
#include "scenarios/engine/operations/operations.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

std::int64_t bytes_of(const std::vector<nn::Tensor>& tensors, bool trained_only) {
  std::int64_t bytes = 0;
  for (const nn::Tensor& t : tensors)
    if (!trained_only || t.requires_grad()) bytes += t.view().bytes();
  return bytes;
}

// Adam keeps two numbers for each that it trains, SGD one where it has a momentum.
std::int64_t optimizer_bytes(Session& s) {
  const nn::OptimizerSpec& spec = s.scenario.optimizer;
  const std::int64_t trained = bytes_of(s.module->parameters(), true);
  const std::int64_t moments = spec.kind == nn::OptimizerSpec::Kind::adam ? 2 : spec.momentum != 0.0 ? 1 : 0;
  return (moments + (spec.copies ? 1 : 0)) * trained;
}

// One device: this rank's.
DeviceLoad own_load(Session& s) {
  DeviceLoad load;
  load.rows = s.rows;
  load.parameter_bytes = bytes_of(s.module->parameters(), false) + bytes_of(s.module->buffers(), false);
  load.gradient_bytes = bytes_of(s.module->parameters(), true);
  if (s.ddp != nullptr && !*s.scenario.ddp.gradient_as_bucket_view) load.gradient_bytes *= 2;  // and the buckets
  const std::int64_t columns = widths_of(*s.module, "").input;
  load.activation_bytes = s.module->activation_bytes() +
                          load.rows * columns * static_cast<std::int64_t>(size_of(s.scenario.model.spec.dtype));
  load.computing = s.computing;
  return load;
}

}  // namespace

void note_device_loads(Session& s, Time step) {
  if (!s.scenario.data_parallel || s.module == nullptr) return;
  const std::vector<DeviceLoad> loads =
      s.data_parallel != nullptr ? s.data_parallel->loads() : std::vector<DeviceLoad>{own_load(s)};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const DeviceLoad& load = loads[i];
    const std::size_t device = s.data_parallel != nullptr ? i : static_cast<std::size_t>(s.env.rank);
    s.env.recorder.note(std::string(device_load_note), {{"device", std::to_string(device)},
                                                        {"rows", std::to_string(load.rows)},
                                                        {"parameters", std::to_string(load.parameter_bytes)},
                                                        {"gradients", std::to_string(load.gradient_bytes)},
                                                        {"optimizer", std::to_string(i == 0 ? optimizer_bytes(s) : 0)},
                                                        {"activations", std::to_string(load.activation_bytes)},
                                                        {"computing", std::to_string(load.computing.ps)},
                                                        {"step", std::to_string(step.ps)}});
  }
}

}  // namespace pdsim::scenarios::operations
