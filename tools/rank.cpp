// pdsim rank: one rank of a world of real processes. Started by `pdsim scenario --on`, never by people.

#include "scenarios/engine/real_world.h"
#include "scenarios/engine/session.h"
#include "tools/command.h"
#include "tools/load.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

struct RankOptions {
  std::string world;
  std::vector<std::string> files;
  std::string variant;
  std::optional<std::uint64_t> seed;
  bool series = false;
};

int rank(const RankOptions& options, Console& console) {
  const auto channel = RankChannel::open();
  if (!channel.ok()) {
    console.problem(channel.error().message);
    return exit_not_available;
  }
  const auto files = load_all(options.files, console);
  if (!files) return exit_wrong_input;
  std::vector<scenarios::Scenario> scenarios;
  for (const scenarios::LoadedFile& file : *files) {
    const auto variants = select_variants(file, options.variant, console);
    if (!variants) return exit_wrong_input;
    for (const scenarios::Scenario* variant : *variants) {
      scenarios.push_back(*variant);
      if (options.seed) scenarios.back().seed = *options.seed;
    }
  }
  const auto program_of = [&scenarios](std::size_t i) {
    return scenarios::rank_program(scenarios.at(i), scenarios::WorldKind::real);
  };
  if (!options.series) return scenarios::run_rank(**channel, options.world, scenarios.front(), program_of(0));
  return scenarios::run_rank_parts(**channel, options.world, [&](int part) {
    const auto i = static_cast<std::size_t>(part);
    return scenarios::RankPart{scenarios.at(i), program_of(i)};
  });
}

}  // namespace

Action declare_rank(CLI::App& app) {
  const auto options = std::make_shared<RankOptions>();
  app.add_option("WORLD", options->world, "gloo, mpi or nccl")->required();
  app.add_option("FILE", options->files, "the scenario file; all of them with --series")->required();
  app.add_option("--variant", options->variant, "the variant");
  app.add_option("--seed", options->seed, "instead of the file's");
  app.add_flag("--series", options->series, "runs every variant, one after the other, as the launcher says");
  return [options](Console& console) { return rank(*options, console); };
}

}  // namespace pdsim::tools
