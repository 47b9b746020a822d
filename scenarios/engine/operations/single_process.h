// The references of `equals`: the same training by one process, on the batches of all ranks joined.
#pragma once

#include "core/nn/module.h"
#include "scenarios/engine/scenario.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdsim::scenarios::operations {

struct TrainedAlone {
  std::unique_ptr<nn::Module> module;  // null: the scenario has no model, or an operation failed
  std::vector<double> last_loss;
};

enum class Batches : std::uint8_t {
  as_they_come,  // one backward for each of the program's, scaled as that is
  joined,        // one for all batches between two optimizer steps, of one path; nothing is scaled
};

// Runs what the program trains on rank 0, from rank 0's parameters and along rank 0's paths, with each rank's rows.
TrainedAlone train_alone(const Scenario& scenario, Batches batches);

}  // namespace pdsim::scenarios::operations
