// Cures of a script's findings that pdsim can make itself, as arguments of torch.distributed's calls: `pdsim run --try-cures`.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

struct Change {
  std::string what;      // DistributedDataParallel(..., find_unused_parameters=True)
  std::string variable;  // NAME=value, in the environment of every rank: the Python package makes the change
};

// For the first finding; at most two.
std::vector<Change> changes_for(const Report& report);

}  // namespace pdsim::scenarios::guests
