#include "scenarios/engine/sim_world.h"

#if __has_include("sim/run.h")
#include "sim/run.h"
#endif

namespace pdsim::scenarios {
namespace {

class SimWorld final : public WorldRunner {
 public:
  std::string_view name() const override { return "sim"; }
#if __has_include("sim/run.h")
  Availability available() const override { return {true, "", ""}; }
  Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram& program) override {
    sim::RunOptions how;
    how.strategy = options.strategy;
    how.record_messages = options.record_messages;
    return sim::run(scenario.world.spec, how, program);
  }
#else
  Availability available() const override { return {false, "", "this build has no simulator"}; }
  Result<RunRecord> run(const Scenario&, const RunOptions&, const RankProgram&) override {
    return Error{Code::unavailable, available().reason, {}};
  }
#endif
};

}  // namespace

std::unique_ptr<WorldRunner> sim_world() { return std::make_unique<SimWorld>(); }

}  // namespace pdsim::scenarios
