// pdsim run: a PyTorch script's ranks in the simulated world, and the diagnosis in the script's own lines.

#include "backends/launch/launch.h"
#include "backends/os/whole_file.h"
#include "core/semantics/libraries.h"
#include "scenarios/guests/fork_server.h"
#include "sim/kernel/choose.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/scenario.h"
#include "tools/scenarios/script/saved_file.h"
#include "tools/scenarios/script/script_runs.h"
#include "tools/scenarios/script/world_flags.h"
#include "tools/shell/likely_command.h"
#include "tools/worlds/guarded_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

// Returns the flag that does not apply to a script's own library; empty if all do.
std::string on_problem(const RunFlags& flags) {
  if (flags.on != "sim" && flags.on != "real") return fmt::format("--on {}: expected sim or real", flags.on);
  if (!is_real(flags))
    return flags.records.empty() ? "" : "--records is for --on real; a simulated run writes its record with --out";
  const char* given = !flags.backend.empty() ? "--backend"
                      : !flags.world.empty() ? "--world"
                      : !flags.faults.empty() ? "--fault"
                      : flags.seed != 0       ? "--seed"
                      : flags.seeds != 1      ? "--seeds"
                      : flags.try_cures       ? "--try-cures"
                      : flags.compute != "none"  ? "--compute"
                      : flags.strategy != "fifo" ? "--strategy"
                      : flags.cuda_on_cpu.value_or(false) ? "--cuda-on-cpu"
                                                          : nullptr;
  return given == nullptr ? "" : fmt::format("{} applies to the simulated world; with --on real the script uses its "
                                             "own library", given);
}

std::string compute_problem(const std::string& text) {
  const auto compute = compute_of(text);
  return compute.ok() ? "" : compute.error().message;
}

std::string schedule_problem(const std::string& text) {
  const auto chooser = sim::Chooser::make(text, 0);
  return chooser.ok() ? "" : fmt::format("{}; there are fifo, random and replay:0.1.1", chooser.error().message);
}

std::string silence_problem(const std::string& text) {
  const Result<Time> time = parse_time(text);
  return time.ok() ? "" : fmt::format("{}; write a time with its unit, such as 60s", time.error().message);
}

// A script that python3 would not find; empty: it is there, or the command is another.
std::string script_problem(const std::vector<std::string>& command) {
  if (!scenarios::guests::ForkServer::fits(command)) return {};
  const std::size_t at = command[1] == "-u" ? 2 : 1;
  std::error_code ignored;
  if (command.size() <= at || command[at].starts_with('-')) return {};
  const std::filesystem::path script = command[at];
  if (!std::filesystem::exists(script, ignored)) return "there is no script " + command[at];
  const bool is_bare_folder =
      std::filesystem::is_directory(script, ignored) && !std::filesystem::exists(script / "__main__.py", ignored);
  return is_bare_folder ? command[at] + " is a folder without __main__.py" : "";
}

bool is_scenario_file(const std::string& word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }

// A flag that says something about a script and its processes; null: none was given.
const char* flag_of_scripts(const RunFlags& flags) {
  return flags.ranks != 0              ? "-n"
         : flags.on != "sim"           ? "--on"
         : !flags.records.empty()      ? "--records"
         : !flags.backend.empty()      ? "--backend"
         : !flags.world.empty()        ? "--world"
         : !flags.faults.empty()       ? "--fault"
         : flags.seeds != 1            ? "--seeds"
         : flags.try_cures             ? "--try-cures"
         : flags.compute != "none"     ? "--compute"
         : flags.cuda_on_cpu           ? "--cuda-on-cpu"
         : !flags.save.empty()         ? "--save"
                                       : nullptr;
}

// A file that --save wrote, or another of the language: its world and ranks stand in it.
int run_files(const RunFlags& flags, Console& console) {
  const std::vector<std::string>& files = flags.command;
  const auto other = std::find_if_not(files.begin(), files.end(), is_scenario_file);
  std::string problem;
  if (other != files.end())
    problem = fmt::format("{} is a scenario file, which takes no arguments such as {}", files.front(), *other);
  else if (const char* flag = flag_of_scripts(flags))
    problem = fmt::format("{} is for scripts, but {} is a scenario file, which sets it itself: `pdsim scenario {}`", flag,
                          files.front(), files.front());
  if (!problem.empty()) {
    console.problem(problem + "; nothing was run");
    return exit_wrong_input;
  }
  ScenarioOptions options;
  options.files = files;
  if (flags.seed != 0) options.seed = flags.seed;
  options.strategy = flags.strategy;
  options.out = flags.out;
  options.json = flags.json;
  return run_scenario_files(options, console);
}

int run(const RunFlags& flags, Console& console) {
  const std::string& program = flags.command.front();
  if (is_scenario_file(program)) return run_files(flags, console);
  std::string problem = program_problem(program);
  if (!problem.empty())
    if (const std::string better = better_command(program, ""); !better.empty()) problem = better;
  if (problem.empty()) problem = script_problem(flags.command);
  if (problem.empty()) problem = save_problem(flags.save);
  if (problem.empty()) problem = on_problem(flags);
  if (!flags.backend.empty() && library_named(flags.backend) == nullptr)
    problem = fmt::format("--backend {}: expected {}", flags.backend, fmt::join(library_names, ", "));
  if (!problem.empty()) {
    console.problem(problem + "; nothing was run");
    return exit_wrong_input;
  }
  const std::optional<scenarios::World> world = world_of(flags, console);
  if (!world) return exit_wrong_input;
  if (const Status folder = flags.out.empty() ? Status{} : prepare_output_folder("--out", flags.out); !folder.ok()) {
    console.problem(folder.error().message);
    return status_of(folder.error());
  }
  if (const Status folder = flags.records.empty() ? Status{} : prepare_output_folder("--records", flags.records);
      !folder.ok()) {
    console.problem(folder.error().message);
    return status_of(folder.error());
  }
  return run_guarded_command(console, [&]() -> int {
    scenarios::guests::ForkServer fork_server;
    return run_script(flags, *world, fork_server, console);
  });
}

}  // namespace

Action declare_run(CLI::App& app) {
  const auto flags = std::make_shared<RunFlags>();
  app.add_option("-n,--ranks", flags->ranks,
                 "number of processes to start, one per rank; without it the program starts its ranks itself")
      ->check(CLI::Range(1, most_launched));
  app.add_option("--on", flags->on, "sim, or real: the script uses its own library, and is recorded and watched")
      ->capture_default_str();
  app.add_option("--records", flags->records,
                 "with --on real: folder for the ranks' records, for pdsim diagnose; one that all machines share");
  app.add_option("--backend", flags->backend,
                 fmt::format("whose semantics: {}; default: the one that the script names", fmt::join(library_names, ", ")));
  app.add_option("--world", flags->world, "file with links, topology and more, as under `world` in a scenario file");
  app.add_option("--fault", flags->faults, "as in a scenario file: --fault 'hang: {}, match: {rank: 1}, at: {step: 2}'; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--seed", flags->seed, "of the world's random choices")->capture_default_str();
  CLI::Option* const pretended =
      app.add_flag_callback("--cuda-on-cpu", [flags] { flags->cuda_on_cpu = true; },
                        "emulate GPUs on the CPU from the start; default: when the script asks for one and the machine "
                        "has too few");
  app.add_flag_callback("--no-cuda-on-cpu", [flags] { flags->cuda_on_cpu = false; }, "never emulate GPUs")
      ->excludes(pretended);
  app.add_option("--strategy", flags->strategy, "which rank runs next: fifo, random or replay:0.1.1")
      ->check(schedule_problem)
      ->capture_default_str();
  app.add_option("--seeds", flags->seeds, "number of schedules to try, this one and then random ones, until one has a "
                                          "finding")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--compute", flags->compute,
                 "virtual time between calls: none, measured (CPU time), measured:FACTOR, or a time before each call")
      ->check(compute_problem)
      ->capture_default_str();
  app.add_flag("--try-cures", flags->try_cures,
               "run the script again with the argument that a finding proposes, and report the result");
  app.add_option("--patience", flags->patience, "how long a rank may make no call before it counts as hung")
      ->check(silence_problem)
      ->capture_default_str();
  app.add_option("--out", flags->out, "folder for report.html, trace.json and events.jsonl")
      ->check(folder_name_problem);
  app.add_option("--save", flags->save,
                 "scenario file, such as mine.yaml, to write the ranks' calls to: it reproduces the problem without "
                 "the script")
      ->check([](const std::string& text) { return std::string(text.empty() ? "the file has no name" : ""); });
  app.add_flag("--json", flags->json, "the report as one JSON object; what the program prints goes to standard error");
  app.add_flag("--no-fork", flags->no_fork, "start a new interpreter for each rank, instead of forking one that has imported torch");
  app.add_option("PROGRAM", flags->command, "the program and, after --, its arguments; or scenario files")->required();
  return [flags](Console& console) { return run(*flags, console); };
}

}  // namespace pdsim::tools
