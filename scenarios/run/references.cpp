#include "scenarios/run/references.h"

#include "scenarios/language/tables/operations_table.h"
#include "scenarios/program/session.h"
#include "sim/run.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {
namespace {

// Leaves out operations that exchange something with other ranks; one that contains operations stays, without those.
std::vector<Operation> of_one_process(const std::vector<Operation>& program) {
  std::vector<Operation> kept;
  for (const Operation& op : program) {
    const language::Key* row = language::operation_named(op.name);
    const bool stays = op.has_body || op.name == "relaunch" || (row != nullptr && row->has(language::needs_model));
    if (!stays) continue;
    kept.push_back(op);
    kept.back().body = of_one_process(op.body);
  }
  return kept;
}

Scenario alone(const Scenario& scenario, Reference as, const std::set<std::string>& tensors) {
  Scenario one = scenario;
  one.stands_for = StandsFor{&scenario, as};
  one.program = of_one_process(scenario.program);
  one.world = {};
  one.world.spec.nodes = one.world.spec.ranks_per_node = 1;
  one.world.spec.backend = "ideal";
  one.world.spec.seed = scenario.seed;
  one.world.device_speed = scenario.world.device_speed;
  one.world.memory_speed = scenario.world.memory_speed;
  one.ddp.wrap = false;
  one.data_parallel.reset();
  one.fully_shard.reset();
  one.tensor_parallel.reset();
  one.mesh = {};
  one.faults.clear();
  one.real.clear();
  one.expect = {};
  for (const std::string& tensor : tensors) {
    ExpectValue value;
    value.tensor = tensor;
    one.expect.values.push_back(std::move(value));
  }
  return one;
}

void add_reference(Report& report, Reference reference) {
  const Scenario& scenario = *report.scenario;
  std::set<std::string> asked;
  const auto look = [&](const Expect& expect) {
    for (const ExpectValue& value : expect.values)
      if (value.equals == reference) asked.insert(value.tensor);
  };
  look(scenario.expect);
  for (const auto& [world, real] : scenario.real)
    if (real.expect) look(*real.expect);
  if (asked.empty() || report.run.ranks.empty() || !scenario.model.given) return;
  const Scenario one = alone(scenario, reference, asked);
  const Result<RunRecord> trained = sim::run(one.world.spec, {}, rank_program(one, WorldKind::simulated));
  if (!trained.ok() || trained->ranks.empty()) return;
  if (trained->ranks.front().log.end != RankEnd::returned) return;
  report.references[reference] = trained->ranks.front().values;
}

}  // namespace

void add_references(Report& report) {
  for (const auto& row : enum_rows<Reference>) add_reference(report, row.value);
}

}  // namespace pdsim::scenarios
