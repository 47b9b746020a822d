#include "core/base/check.h"
#include "core/semantics/library.h"
#include "scenarios/language/loader.h"
#include "scenarios/program/session.h"
#include "sim/run.h"
#include "tests/fingerprints/fingerprints.h"
#include "tests/helpers/catalog_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace pdsim::fingerprints {
namespace {

// Those that fit the world's seed, and one that takes the first alternatives of a schedule otherwise.
constexpr const char* strategies[] = {"fifo", "random", "replay:1.0.2.1.3"};

void add_runs(const scenarios::Scenario& scenario, const planted::LeakRow* leak, std::vector<Line>& lines) {
  sim::WorldSpec spec = scenario.world.spec;
  if (spec.intra.jitter.ps == 0) spec.intra.jitter = Time{3'000'000};
  for (const LibrarySemantics& library : library_semantics()) {
    spec.backend = library.name;
    for (const char* strategy : strategies) {
      sim::RunOptions options;
      options.strategy = strategy;
      if (leak != nullptr) options.disturb = leak->draw;
      const auto run = sim::run(spec, options, scenarios::rank_program(scenario, scenarios::WorldKind::simulated));
      PDSIM_CHECK(run.ok(), "a run of the catalog was refused");
      lines.push_back(
          {scenario.name + "/" + scenario.variant + " " + spec.backend + " " + strategy, run->fingerprint.value_or(0)});
    }
    if (leak != nullptr) return;  // the runs of one library show it
  }
}

}  // namespace

std::vector<Line> simulations(const planted::LeakRow* leak) {
  std::vector<Line> lines;
  for (const std::filesystem::path& file : scenarios::catalog_files()) {
    const auto loaded = scenarios::load_file(file.string());
    PDSIM_CHECK(loaded.ok(), "a file of the catalog cannot be read");
    for (const scenarios::Scenario& variant : loaded->variants) add_runs(variant, leak, lines);
  }
  return lines;
}

}  // namespace pdsim::fingerprints
