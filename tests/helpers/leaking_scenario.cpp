// leaking_scenario <scenario> <leak>: `pdsim scenario <scenario> --check-determinism` with a leak planted in the simulated world.

#include "tests/helpers/planted_leaks.h"
#include "tools/scenarios/scenario.h"

int main(int argc, char** argv) {
  const pdsim::planted::LeakRow* leak = argc == 3 ? pdsim::planted::leak_named(argv[2]) : nullptr;
  if (leak == nullptr) return pdsim::tools::exit_wrong_input;
  pdsim::tools::Console console(true);
  pdsim::tools::ScenarioOptions options;
  options.files = {argv[1]};
  options.check_determinism = true;
  options.disturb = leak->draw;
  return pdsim::tools::run_scenario_files(options, console);
}
