// pdsim launch: starts the ranks of any program on this machine.

#include "backends/launch/launch.h"

#include "backends/availability.h"
#include "backends/launch/guarded.h"
#include "scenarios/engine/worlds.h"
#include "tools/command.h"
#include "tools/trial_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

struct LaunchFlags {
  int ranks = 0;
  std::string on;
  std::string patience = "30s", grace = "5s";
  std::vector<std::string> command;
};

std::string time_problem(const std::string& text) {
  const Result<Time> time = parse_time(text);
  return time.ok() ? "" : fmt::format("{}; write a time with its unit, such as 10s", time.error().message);
}

// The exit status that says why nothing can be started; exit_held: nothing.
int refuse(const LaunchFlags& flags, Console& console) {
  std::string problem;
  if (!flags.on.empty()) {
    const scenarios::WorldRow* world = scenarios::world_named(flags.on, problem);
    if (world != nullptr && world->kind == scenarios::WorldKind::simulated)
      problem = "processes cannot be started in the simulated world; leave --on out, or name gloo, mpi or nccl";
  }
  if (problem.empty()) problem = program_problem(flags.command.front());
  if (!problem.empty()) {
    console.problem(problem + "; nothing was run");
    return exit_wrong_input;
  }
  if (flags.on.empty()) return exit_held;
  const Availability here = real_world_row(flags.on)->available();
  if (here.yes) return exit_held;
  console.problem(fmt::format("the world {} is not available here: {}", flags.on, here.reason));
  return exit_not_available;
}

int run(const LaunchFlags& flags, Console& console) {
  if (const int refused = refuse(flags, console); refused != exit_held) return refused;
  LaunchOptions options;
  options.ranks = flags.ranks;
  options.command = flags.command;
  options.patience = parse_time(flags.patience).value();
  options.grace = parse_time(flags.grace).value();
  if (!flags.on.empty()) options.take_seats = real_world_row(flags.on)->take_seats;
  const Result<int> status = run_guarded([&options, &console]() -> int {
    const Result<int> launched = launch_ranks(options);
    if (launched.ok()) return *launched;
    if (launched.error().code != Code::cancelled) console.problem(launched.error().message);
    return status_of(launched.error());
  });
  if (status.ok()) return *status;
  console.problem(status.error().message);
  return exit_failed;
}

}  // namespace

Action declare_launch(CLI::App& app) {
  const auto flags = std::make_shared<LaunchFlags>();
  app.add_option("-n,--ranks", flags->ranks, "how many")->required()->check(CLI::Range(1, most_launched));
  app.add_option("--on", flags->on, "gloo, mpi or nccl: is it there? and with mpi, as ranks of an mpirun");
  app.add_option("--patience", flags->patience, "how long a rank may be stopped, or all be quiet")
      ->check(time_problem)
      ->capture_default_str();
  app.add_option("--grace", flags->grace, "from SIGTERM to SIGKILL, when the job ends")
      ->check(time_problem)
      ->capture_default_str();
  app.add_option("PROGRAM", flags->command, "the program and, after --, its arguments")->required();
  return [flags](Console& console) { return run(*flags, console); };
}

}  // namespace pdsim::tools
