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

namespace pdsim::tools {
namespace {

struct RankOptions {
  std::string world;
  std::string file;
  std::string variant;
  std::optional<std::uint64_t> seed;
};

int rank(const RankOptions& options, Console& console) {
  const auto channel = RankChannel::open();
  if (!channel.ok()) {
    console.problem(channel.error().message);
    return exit_not_available;
  }
  const auto files = load_all({options.file}, console);
  if (!files) return exit_wrong_input;
  const auto variants = select_variants(files->front(), options.variant, console);
  if (!variants) return exit_wrong_input;
  scenarios::Scenario scenario = *variants->front();
  if (options.seed) scenario.seed = *options.seed;
  return scenarios::run_rank(**channel, options.world, scenario,
                             scenarios::rank_program(scenario, scenarios::WorldKind::real));
}

}  // namespace

Action declare_rank(CLI::App& app) {
  const auto options = std::make_shared<RankOptions>();
  app.add_option("WORLD", options->world, "gloo, mpi or nccl")->required();
  app.add_option("FILE", options->file, "the scenario file")->required();
  app.add_option("--variant", options->variant, "the variant");
  app.add_option("--seed", options->seed, "instead of the file's");
  return [options](Console& console) { return rank(*options, console); };
}

}  // namespace pdsim::tools
