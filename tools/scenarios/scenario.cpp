// pdsim scenario: runs scenario files and checks their expectations.

#include "tools/scenarios/scenario.h"

#include "core/base/quantity.h"
#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/run/tried_cures.h"
#include "scenarios/worlds/sim_world.h"
#include "sim/kernel/choose.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/load.h"
#include "tools/scenarios/report_folder.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

constexpr Time shortest_patience{500'000'000'000};

// "" when `text` is a strategy; otherwise with a caret below what is wrong, and what is right there.
std::string strategy_problem(const std::string& text) {
  const Result<sim::Chooser> chooser = sim::Chooser::make(text, 0);
  if (chooser.ok()) return "";
  constexpr std::size_t most_shown = 60;  // before the caret, of a long list
  const Error& wrong = chooser.error();
  std::size_t at = 0;
  for (const char digit : fact(wrong.facts, "at")) at = at * 10 + static_cast<std::size_t>(digit - '0');
  const std::size_t from = at > most_shown ? at - most_shown : 0;
  const std::string shown = (from > 0 ? "..." : "") + text.substr(from, most_shown + 20);
  return fmt::format("this is not a strategy\n  {}\n  {:>{}} {}", shown, "^", at - from + (from > 0 ? 4 : 1),
                     fact(wrong.facts, "help"));
}

std::string patience_problem(const std::string& text) {
  const Result<Time> time = parse_time(text);
  if (!time) return fmt::format("{}; write a time with its unit, such as 10s", time.error().message);
  return *time < shortest_patience
             ? fmt::format("{} is too short: processes need {} to start", text, to_string(shortest_patience))
             : "";
}

scenarios::RunOptions run_options(const ScenarioOptions& options) {
  scenarios::RunOptions run;
  run.strategy = options.strategy;
  run.engine = sim::engine_named(options.engine).value();
  run.patience = parse_time(options.patience).value();
  run.record_messages = !options.out.empty();
  run.trace = options.check_determinism;
  run.disturb = options.disturb;
  std::error_code ignored;
  run.executable = fs::read_symlink("/proc/self/exe", ignored).string();
  return run;
}

// Variants in file order, with the seed that was asked for.
std::vector<scenarios::Scenario> chosen(const std::vector<const scenarios::Scenario*>& variants,
                                        const std::optional<std::uint64_t>& seed) {
  std::vector<scenarios::Scenario> copies;
  for (const scenarios::Scenario* variant : variants) {
    copies.push_back(*variant);
    if (seed) copies.back().seed = copies.back().world.spec.seed = *seed;
  }
  return copies;
}

// A job that was started from outside has the ranks it has; empty: every file wants as many.
std::string job_size_problem(const std::optional<JobPlace>& place,
                             const std::vector<std::vector<scenarios::Scenario>>& files) {
  for (const auto& variants : files)
    for (const scenarios::Scenario& s : variants)
      if (place && s.world.spec.ranks() != place->size)
        return fmt::format("{} has {} ranks, and the job that {} has started {}", s.name, s.world.spec.ranks(),
                           place->by, place->size);
  return {};
}

int exit_status_of(const Error& error) {
  if (error.code == Code::unavailable) return exit_not_available;
  if (error.code == Code::limit_exceeded || error.code == Code::input_invalid) return exit_wrong_input;
  return exit_failed;
}

class FileRun {
 public:
  // `index` gets what is written of the file, where `options.out` asks for it.
  FileRun(const scenarios::LoadedFile& file, const scenarios::WorldRow& world, const ScenarioOptions& options,
          Console& console, Job* job, std::vector<scenarios::IndexFile>& index)
      : file_(file), world_(world), options_(options), console_(console), how_(run_options(options)), index_(index) {
    how_.job = job;
  }

  int run(const std::vector<scenarios::Scenario>& variants) {
    for (const scenarios::Scenario& variant : variants) {
      const int status = run(variant);
      if (status != exit_held) return status;
    }
    return tell();
  }

 private:
  int run(const scenarios::Scenario& variant) {
    const auto start = std::chrono::steady_clock::now();
    Result<scenarios::Report> report = scenarios::run_scenario(variant, world_, how_);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    if (!report) return refuse(variant, report.error());
    if (report->run.wall_ns == 0) report->run.wall_ns = took.count();  // the simulator reads no clock
    if (options_.check_determinism && report->verdict != scenarios::Verdict::skip) {
      const Result<std::string> difference = scenarios::difference_on_rerun(report->run, variant, how_);
      if (!difference) return refuse(variant, difference.error());
      if (!difference->empty()) {
        console_.problem(
            fmt::format("two runs of {} with seed {} differ (this is a bug in pdsim, please report it): {}",
                        title(variant), variant.seed, *difference));
        return exit_failed;
      }
    }
    scenarios::try_cures(*report, world_, how_);
    reports_.push_back(std::move(*report));
    return exit_held;
  }

  static std::string title(const scenarios::Scenario& s) {
    return s.variant.empty() ? s.name : fmt::format("{}/{}", s.name, s.variant);
  }

  int refuse(const scenarios::Scenario& variant, const Error& error) {
    console_.problem(fmt::format("{}: {}", title(variant), error.message));
    return exit_status_of(error);
  }

  int tell() {
    scenarios::TextOptions text;
    text.quiet = options_.quiet;
    text.colour = console_.color();
    text.out_dir = options_.out;
    text.source = file_.text;
    text.strategy = options_.strategy;
    if (options_.patience != ScenarioOptions().patience) text.patience = options_.patience;
    if (options_.json)
      console_.print(scenarios::render_json(reports_));
    else
      console_.print_coloured(scenarios::render_text(reports_, text));
    if (!options_.out.empty()) {
      Result<scenarios::IndexFile> written = write_reports(file_, reports_, options_.out, options_.strategy);
      if (!written.ok()) return refuse(*reports_.front().scenario, written.error());
      index_.push_back(std::move(*written));
    }
    const bool held = std::none_of(reports_.begin(), reports_.end(),
                                   [](const auto& report) { return report.verdict == scenarios::Verdict::fail; });
    return held ? exit_held : exit_did_not_hold;
  }

  const scenarios::LoadedFile& file_;
  const scenarios::WorldRow& world_;
  const ScenarioOptions& options_;
  Console& console_;
  scenarios::RunOptions how_;
  std::vector<scenarios::Report> reports_;
  std::vector<scenarios::IndexFile>& index_;
};

}  // namespace

int run_scenario_files(const ScenarioOptions& options, Console& console) {
  std::string problem;
  const scenarios::WorldRow* world = scenarios::world_named(options.on, problem);
  if (world == nullptr) {
    console.problem(problem);
    return exit_wrong_input;
  }
  if (options.check_determinism && world->kind == scenarios::WorldKind::real) {
    console.problem("--check-determinism compares runs of the simulated world; real ones differ by their nature");
    return exit_wrong_input;
  }
  const auto files = load_all(options.files, console);
  if (!files) return exit_wrong_input;
  std::vector<std::vector<scenarios::Scenario>> variants;
  for (const scenarios::LoadedFile& file : *files) {
    const auto selected = select_variants(file, options.variant, console);
    if (!selected) return exit_wrong_input;
    variants.push_back(chosen(*selected, options.seed));
  }
  const auto place = job_of(options.on, options.join);
  problem = place.ok() ? job_size_problem(*place, variants) : place.error().message;
  if (!problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  if (!options.out.empty())
    if (const Status folder = prepare_output_folder("--out", options.out); !folder.ok()) {
      console.problem(folder.error().message + "; nothing was run");
      return exit_status_of(folder.error());
    }
  if (const Availability here = world->make(world->name)->available(); !here.yes) {
    console.problem(fmt::format("the world {} is not available here: {}", world->name, here.reason));
    return exit_not_available;
  }
  return run_joined(*place, options.join, console, [&](Job* job) {
    int worst = exit_held;
    std::vector<scenarios::IndexFile> index;
    for (std::size_t i = 0; i < files->size(); ++i)
      worst = std::max(worst, FileRun((*files)[i], *world, options, console, job, index).run(variants[i]));
    if (index.empty()) return worst;
    const Status written = write_index(index.size() == 1 ? index.front().entry.name : "scenarios", index, options.out);
    if (written.ok()) return worst;
    console.problem(written.error().message);
    return static_cast<int>(exit_failed);
  });
}

Action declare_scenario(CLI::App& app) {
  const auto options = std::make_shared<ScenarioOptions>();
  app.add_option("FILE", options->files, "scenario files, or names of the catalog")->required();
  app.add_option("--variant", options->variant, "only this variant; default: all");
  app.add_option("--seed", options->seed, "instead of the file's")->check(seed_problem);
  app.add_option("--on", options->on, "the world: " + scenarios::names_of_worlds())->capture_default_str();
  app.add_option("--strategy", options->strategy, "which rank runs next: fifo, random or replay:0.1.1")
      ->check(strategy_problem)
      ->capture_default_str();
  app.add_option("--engine", options->engine, "the simulation's: auto, exchange, in-flight or closed-form")
      ->check(engine_problem)
      ->capture_default_str();
  app.add_flag("--check-determinism", options->check_determinism, "run everything again and compare, event by event");
  app.add_option("--patience", options->patience, "real worlds: how long without progress is a hang")
      ->check(patience_problem)
      ->capture_default_str();
  add_join_flags(app, options->join);
  app.add_option("--out", options->out, "folder for report.html, trace.json and events.jsonl of each variant, and an index.html")
      ->check(folder_name_problem);
  app.add_flag("--quiet", options->quiet, "only the verdicts");
  app.add_flag("--json", options->json, "one JSON object per file");
  return [options](Console& console) { return run_scenario_files(*options, console); };
}

}  // namespace pdsim::tools
