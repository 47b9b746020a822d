// Runs a job of guests in a simulated world: what `pdsim run` does before the diagnosis.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/guests/job.h"
#include "sim/run.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

struct GuestRun {
  RunRecord record;
  sim::WorldSpec world;                     // with the backend and the version that the script has
  std::vector<std::optional<Ended>> ended;  // how each process ended
  bool introduced = false;                  // some rank came to init_process_group
  std::string missing_module;               // of the ImportError that ended a rank; empty: none
};

// `backend`: instead of the one that the script names. Errors: io_error, input_invalid (the program cannot be executed), cancelled (a
// signal), those of sim::run.
Result<GuestRun> run_guests(const JobOptions& options, sim::WorldSpec world, const sim::RunOptions& how,
                            const std::optional<std::string>& backend);

}  // namespace pdsim::scenarios::guests
