#include "scenarios/worlds/sim_world.h"

#include "backends/os/machine_memory.h"
#include "scenarios/program/session.h"
#include "sim/world/determinism.h"
#include "sim/world/memory_need.h"

#include <fmt/format.h>

namespace pdsim::scenarios {
namespace {

sim::RunOptions simulation(const RunOptions& options) {
  sim::RunOptions how;
  how.engine = options.engine;
  how.strategy = options.strategy;
  how.record_messages = options.record_messages;
  how.trace_limit = options.trace ? sim::default_trace_limit : 0;
  how.disturb = options.disturb;
  return how;
}

Status has_room_for(int ranks) {
  const sim::MemoryNeed need = sim::memory_need(ranks);
  return fits_in_memory(fmt::format("{} simulated rank{}", ranks, ranks == 1 ? "" : "s"), need.address_space,
                        need.memory);
}

class SimWorld final : public WorldRunner {
 public:
  std::string_view name() const override { return "sim"; }
  Availability available() const override { return {true, "", ""}; }
  Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram& program) override {
    PDSIM_TRY(has_room_for(scenario.world.spec.ranks()));
    return sim::run(scenario.world.spec, simulation(options), program);
  }
};

}  // namespace

std::unique_ptr<WorldRunner> sim_world() { return std::make_unique<SimWorld>(); }

Result<std::string> difference_on_rerun(const RunRecord& first, const Scenario& scenario, const RunOptions& options) {
  return sim::difference_on_rerun(first, scenario.world.spec, simulation(options),
                                  rank_program(scenario, WorldKind::simulated));
}

}  // namespace pdsim::scenarios
