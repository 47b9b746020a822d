#include "scenarios/engine/sim_world.h"

#include "sim/run.h"

namespace pdsim::scenarios {
namespace {

class SimWorld final : public WorldRunner {
 public:
  std::string_view name() const override { return "sim"; }
  Availability available() const override { return {true, "", ""}; }
  Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram& program) override {
    sim::RunOptions how;
    how.strategy = options.strategy;
    how.record_messages = options.record_messages;
    return sim::run(scenario.world.spec, how, program);
  }
};

}  // namespace

std::unique_ptr<WorldRunner> sim_world() { return std::make_unique<SimWorld>(); }

}  // namespace pdsim::scenarios
