// A world runs one variant of a scenario: it starts a rank program per rank and hands back what the recorders wrote.
//
// THE list of worlds is `worlds()` in worlds.cpp: simulated, gloo, mpi, nccl.
#pragma once

#include "core/base/result.h"
#include "core/group/rank_program.h"
#include "scenarios/engine/scenario.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {
class Job;
}

namespace pdsim::scenarios {

struct RunOptions {
  std::string strategy = "fifo";      // fifo | random | replay:0.1.1
  std::optional<std::uint64_t> seed;  // overrides the scenario's
  Time patience{10'000'000'000'000};  // real worlds: how long without progress is a hang
  bool record_messages = false;
  bool trace = false;      // simulated world: keep the events that difference_on_rerun compares
  std::string leak;        // simulated world: a planted leak (sim/leaks.h), for tests of that comparison
  std::string executable;  // real worlds start themselves again
  // What a rank's process is started with instead of the scenario's file and variant: the command that runs the program.
  std::vector<std::string> rank_command;
  // Real worlds, where mpirun, srun or torchrun has started this command: its ranks. A library that begins only once runs all
  // parts in one process per rank, started with `series_command`; the run is its part `part`.
  Job* job = nullptr;
  std::vector<std::string> series_command;
  int part = 0;
};

class WorldRunner {
 public:
  virtual ~WorldRunner() = default;
  virtual std::string_view name() const = 0;
  virtual Availability available() const = 0;
  virtual Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram& program) = 0;
};

}  // namespace pdsim::scenarios
