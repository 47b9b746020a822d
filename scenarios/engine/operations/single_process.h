// The reference of `equals: single_process`: the same training by one process, on the batches of all ranks joined.
#pragma once

#include "core/nn/module.h"
#include "scenarios/engine/scenario.h"

#include <memory>
#include <vector>

namespace pdsim::scenarios::operations {

struct TrainedAlone {
  std::unique_ptr<nn::Module> module;  // null: the scenario has no model, or an operation failed
  std::vector<double> last_loss;
};

// Runs what the program trains on rank 0, from rank 0's parameters and along rank 0's paths.
TrainedAlone train_alone(const Scenario& scenario);

}  // namespace pdsim::scenarios::operations
