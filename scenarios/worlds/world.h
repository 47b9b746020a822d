// A world runs one variant of a scenario: it starts a rank program per rank and returns the recorders' data.
//
// The list of worlds is `worlds()` in worlds.h.
#pragma once

#include "core/base/random.h"
#include "core/base/result.h"
#include "core/group/rank_program.h"
#include "scenarios/language/scenario.h"
#include "scenarios/worlds/rank_request.h"
#include "sim/run.h"

#include <cstdint>
#include <functional>
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
  Time patience{10'000'000'000'000};  // real worlds: a longer time without progress is a hang
  bool record_messages = false;
  bool trace = false;                           // simulated world: keep the events that difference_on_rerun compares
  sim::Engine engine = sim::Engine::automatic;  // simulated world
  std::function<std::int64_t(Random&)> disturb;  // simulated world: sim::RunOptions::disturb, for tests of that comparison
  std::string executable;  // real worlds start it again for the ranks
  std::optional<RankRequest> request;  // real worlds: the ranks' work instead of the scenario
  // Real worlds, if `executable` is a program of the caller's own that calls run_rank: its arguments; without a request then.
  std::vector<std::string> rank_command;
  Job* job = nullptr;  // real worlds, where mpirun, srun or torchrun has started this command: its ranks
};

class WorldRunner {
 public:
  virtual ~WorldRunner() = default;
  virtual std::string_view name() const = 0;
  virtual Availability available() const = 0;
  virtual Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram& program) = 0;
};

}  // namespace pdsim::scenarios
