// pdsim run: a PyTorch script's ranks in the simulated world, and the diagnosis in the script's own lines.

#include "scenarios/guests/run.h"

#include "backends/launch/guarded.h"
#include "backends/launch/launch.h"
#include "scenarios/guests/script_terms.h"
#include "scenarios/language/loader.h"
#include "scenarios/reports/artifacts.h"
#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  int ranks = 0;  // the program starts them itself
  std::string on = "sim";
  std::string records;
  std::string backend;
  std::string patience = "60s";
  std::string out;
  std::string world;
  std::vector<std::string> faults;
  std::uint64_t seed = 0;
  bool json = false, no_fork = false;
  std::vector<std::string> command;
};

bool is_real(const RunFlags& flags) { return flags.on == "real"; }

// What cannot be said of a script's own library; empty: all is well.
std::string on_problem(const RunFlags& flags) {
  if (flags.on != "sim" && flags.on != "real") return fmt::format("--on {}: there are sim and real", flags.on);
  if (!is_real(flags))
    return flags.records.empty() ? "" : "--records is for --on real: a simulated run leaves its record with --out";
  const char* given = !flags.backend.empty() ? "--backend"
                      : !flags.world.empty() ? "--world"
                      : !flags.faults.empty() ? "--fault"
                      : flags.seed != 0       ? "--seed"
                                              : nullptr;
  return given == nullptr ? "" : fmt::format("{} is of the simulated world; --on real leaves the script its own library", given);
}

// The folder with the Python part: beside the installed command, else in the source tree.
std::string guest_folder() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share" / "pdsim" / "guest";
  return fs::is_directory(installed, ignored) ? installed.string() : PDSIM_SOURCE_GUEST;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The script among the words of the command: the first that names a Python file.
std::string script_of(const std::vector<std::string>& command) {
  for (const std::string& word : command)
    if (word.ends_with(".py")) return word;
  return command.front();
}

// The command that runs this again, as a shell takes it.
std::string replay_of(const RunFlags& flags) {
  std::string line = "pdsim run";
  if (flags.ranks > 0) line += fmt::format(" -n {}", flags.ranks);
  if (is_real(flags)) line += " --on real";
  if (!flags.backend.empty()) line += " --backend " + flags.backend;
  if (!flags.world.empty()) line += " --world " + flags.world;
  for (const std::string& fault : flags.faults) line += fmt::format(" --fault '{}'", fault);
  if (flags.seed != 0) line += fmt::format(" --seed {}", flags.seed);
  line += " --";
  for (const std::string& word : flags.command) {
    const bool plain = word.find_first_of(" \t\n'\"\\$`*?[]{}()<>|&;#~!") == std::string::npos && !word.empty();
    line += plain ? " " + word : fmt::format(" \"{}\"", word);
  }
  return line;
}

// How ranks ended that the diagnosis does not speak of; 0: all well.
int told_end(const scenarios::guests::GuestRun& run, const scenarios::Report& report) {
  const bool ended_badly = std::any_of(run.ended.begin(), run.ended.end(), [](const std::optional<Ended>& e) {
    return e && (e->signal != 0 || e->exit_status != 0);
  });
  return report.diagnosis() != nullptr || report.outcome != scenarios::Outcome::ok || ended_badly ? exit_did_not_hold
                                                                                                  : exit_held;
}

std::string unusable_text(const std::string& interpreter, const std::string& version) {
  if (version.empty())
    return fmt::format("{} finds no PyTorch (`import torch` failed); install it for this interpreter, for example "
                       "with `apt-get install python3-torch` or `pip install torch`",
                       interpreter);
  return fmt::format("{} has PyTorch {}, which pdsim run cannot carry; it takes 1.13 and 2.x", interpreter, version);
}

int report_on(scenarios::guests::GuestRun& run, const RunFlags& flags, Console& console) {
  if (run.unusable) {
    console.problem(unusable_text(flags.command.front(), *run.unusable));
    return exit_not_available;
  }
  if (!run.version.empty() && !scenarios::guests::is_tried(run.version))
    console.problem(fmt::format("PyTorch {} has not been tried with pdsim run, as {} have; the run went on", run.version,
                                scenarios::guests::tried_versions));
  scenarios::Scenario scenario;
  const std::string script = script_of(flags.command);
  scenario.name = fs::path(script).filename().string();
  scenario.file = script;
  scenario.seed = run.world.seed;
  scenario.world.spec = run.world;
  for (const std::string& remark : run.remarks) console.problem(remark);
  scenarios::Report report =
      scenarios::analyse(scenario, std::move(run.record), run.library.empty() ? "sim" : run.library);
  if (const std::string file = scenarios::guests::speak_of_script(report); !file.empty()) scenario.file = file;
  scenarios::TextOptions text;
  text.source = text_of(scenario.file);
  text.colour = console.color();
  text.replay = replay_of(flags);
  const int status = told_end(run, report);
  if (status == exit_did_not_hold) report.verdict = scenarios::Verdict::fail;
  const bool nothing_to_tell = !run.introduced && status == exit_held;
  if (nothing_to_tell)
    console.problem(fmt::format("no rank called init_process_group, so there was nothing to {}",
                                is_real(flags) ? "record" : "simulate"));
  text.out_dir = flags.out;
  if (flags.json)
    console.print(scenarios::render_json({report}));
  else if (!nothing_to_tell)
    console.print(scenarios::render_diagnosis(report, text));
  if (flags.out.empty() || nothing_to_tell) return status;
  text.colour = false;
  const Status written = scenarios::write_artifacts(report, (fs::path(flags.out) / scenario.name).string(),
                                                    scenarios::render_diagnosis(report, text), text.source);
  if (written.ok()) return status;
  console.problem(written.error().message);
  return status_of(written.error());
}

// A block of YAML below a key.
std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines += "  " + line + "\n";
  return lines;
}

// The world and the faults that the flags name, by the rules of scenario files. input_invalid, with what is wrong.
Result<sim::WorldSpec> world_of(const RunFlags& flags) {
  std::string text = "pdsim: 1\nname: run\nsummary: the world of a script\nworld:\n";
  if (!flags.world.empty() && !fs::is_regular_file(flags.world))
    return Error{Code::input_invalid, fmt::format("--world {}: there is no such file", flags.world), {}};
  if (flags.world.empty()) text += fmt::format("  ranks: {}\n", std::max(flags.ranks, 1));
  text += indented(flags.world.empty() ? std::string() : text_of(flags.world));
  if (!flags.faults.empty()) text += "faults:\n";
  for (const std::string& fault : flags.faults) text += fmt::format("  - {{{}}}\n", fault);
  text += "program: [init_process_group, {repeat: {times: 1000, do: [barrier]}}]\nexpect: {outcome: ok}\n";
  const scenarios::LoadedFile file = scenarios::load_text("run.yaml", text);
  for (const scenarios::Diagnostic& diagnostic : file.diagnostics)
    if (!diagnostic.warning)
      return Error{Code::input_invalid,
                   fmt::format("{}: {}", flags.faults.empty() ? "--world " + flags.world : "--world or --fault",
                               diagnostic.what),
                   {}};
  if (file.variants.empty()) return Error{Code::input_invalid, "the world cannot be read", {}};
  sim::WorldSpec world = file.variants.front().world.spec;
  if (flags.ranks > 0 && world.ranks() != flags.ranks)
    return Error{Code::input_invalid,
                 fmt::format("--world {} has {} ranks, and -n says {}", flags.world, world.ranks(), flags.ranks),
                 {}};
  world.seed = flags.seed;
  return world;
}

std::string silence_problem(const std::string& text) {
  const Result<Time> time = parse_time(text);
  return time.ok() ? "" : fmt::format("{}; write a time with its unit, such as 60s", time.error().message);
}

int run(const RunFlags& flags, Console& console) {
  std::string problem = program_problem(flags.command.front());
  if (problem.empty()) problem = on_problem(flags);
  if (!flags.backend.empty() && library_named(flags.backend) == nullptr)
    problem = fmt::format("--backend {}: there are {}", flags.backend, fmt::join(library_names, ", "));
  if (!problem.empty()) {
    console.problem(problem + "; nothing was run");
    return exit_wrong_input;
  }
  const Result<sim::WorldSpec> world = world_of(flags);
  if (!world.ok()) {
    console.problem(world.error().message + "; nothing was run");
    return exit_wrong_input;
  }
  if (const Status folder = flags.out.empty() ? Status{} : prepare_output_folder("--out", flags.out); !folder.ok()) {
    console.problem(folder.error().message);
    return status_of(folder.error());
  }
  if (const Status folder = flags.records.empty() ? Status{} : prepare_output_folder("--records", flags.records);
      !folder.ok()) {
    console.problem(folder.error().message);
    return status_of(folder.error());
  }
  scenarios::guests::JobOptions job;
  job.ranks = flags.ranks;
  job.command = flags.command;
  job.package = guest_folder();
  job.patience = parse_time(flags.patience).value();
  job.all_to_stderr = flags.json;
  const auto backend = flags.backend.empty() ? std::optional<std::string>() : flags.backend;
  const Result<int> status = run_guarded([&]() -> int {
    scenarios::guests::Nursery nursery;
    if (!flags.no_fork) job.nursery = &nursery;
    Result<scenarios::guests::GuestRun> run =
        is_real(flags) ? scenarios::guests::run_really(job, *world, flags.records)
                       : scenarios::guests::run_guests(job, *world, {}, backend);
    if (run.ok()) return report_on(*run, flags, console);
    if (run.error().code != Code::cancelled) console.problem(run.error().message);
    return status_of(run.error());
  });
  if (status.ok()) return *status;
  console.problem(status.error().message);
  return exit_failed;
}

}  // namespace

Action declare_run(CLI::App& app) {
  const auto flags = std::make_shared<RunFlags>();
  app.add_option("-n,--ranks", flags->ranks,
                 "processes to start, one a rank; without it the program starts its ranks itself")
      ->check(CLI::Range(1, most_launched));
  app.add_option("--on", flags->on, "sim, or real: the script keeps its own library, and is recorded and watched")
      ->capture_default_str();
  app.add_option("--records", flags->records,
                 "with --on real: folder where the ranks' records stay, for pdsim diagnose; one that all machines share");
  app.add_option("--backend", flags->backend,
                 "whose semantics: gloo, nccl, mpi or ideal; the one that the script names");
  app.add_option("--world", flags->world, "file with links, topology and more, as under `world` in a scenario file");
  app.add_option("--fault", flags->faults, "as in a scenario file: --fault 'hang: {}, match: {rank: 1}, at: {step: 2}'")
      ->expected(1);
  app.add_option("--seed", flags->seed, "of the world's random choices")->capture_default_str();
  app.add_option("--patience", flags->patience, "how long a rank may call nothing before it counts as hung")
      ->check(silence_problem)
      ->capture_default_str();
  app.add_option("--out", flags->out, "folder for report.html, trace.json and events.jsonl")
      ->check([](const std::string& text) { return std::string(text.empty() ? "the folder has no name" : ""); });
  app.add_flag("--json", flags->json, "the report as one JSON object; what the program prints goes to standard error");
  app.add_flag("--no-fork", flags->no_fork, "an interpreter of its own for each rank, none forked from one that has imported torch");
  app.add_option("PROGRAM", flags->command, "the program and, after --, its arguments")->required();
  return [flags](Console& console) { return run(*flags, console); };
}

}  // namespace pdsim::tools
