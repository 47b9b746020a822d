// pdsim rank: one rank of a world of real processes. Started by pdsim itself, never by people; what to run comes from the launcher.

#include "scenarios/worlds/real_world.h"
#include "scenarios/worlds/worlds.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace pdsim::tools {

Action declare_rank(CLI::App& app) {
  const auto world = std::make_shared<std::string>();
  app.add_option("WORLD", *world, scenarios::names_of_worlds(false))->required();
  return [world](Console& console) -> int {
    const auto channel = RankChannel::open();
    if (channel.ok()) return scenarios::run_requests(**channel, *world);
    console.problem(channel.error().message);
    return exit_not_available;
  };
}

}  // namespace pdsim::tools
