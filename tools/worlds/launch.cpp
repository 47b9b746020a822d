// pdsim launch: starts the ranks of any program on this machine.

#include "backends/launch/launch.h"

#include "backends/availability.h"
#include "backends/launch/launched_records.h"
#include "backends/os/whole_file.h"
#include "backends/process/record_file.h"
#include "core/base/int_set.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/records/launch_record.h"
#include "scenarios/records/record_json.h"
#include "scenarios/records/record_origin.h"
#include "scenarios/run/analyse.h"
#include "scenarios/text/printable_json.h"
#include "scenarios/worlds/worlds.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"
#include "tools/worlds/guarded_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace pdsim::tools {
namespace {

struct LaunchFlags {
  int ranks = 0;
  std::string on;
  std::string patience = "30s", grace = "5s";
  std::string records;
  std::vector<std::string> command;
  bool json = false;
};

namespace fs = std::filesystem;

constexpr const char* events_name = "events.jsonl";

// Makes the folder, without records of an earlier job.
Status prepare_records(LaunchFlags& flags) {
  PDSIM_TRY(prepare_output_folder("--records", flags.records));
  std::error_code error;
  const fs::path folder = fs::absolute(flags.records, error);
  std::vector<fs::path> earlier{folder / events_name};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (scenarios::is_ring_name(entry.path().filename().string())) earlier.push_back(entry.path());
  for (const fs::path& path : earlier) fs::remove(path, error);
  flags.records = folder.string();
  return {};
}

// The rings become one file, which holds how the ranks ended as well. io_error: the rings stay.
Status keep_records(const LaunchFlags& flags, const LaunchOutcome& outcome, Console& console) {
  const bool failed = outcome.status != 0 || !outcome.problem.ok();
  const bool any =
      std::any_of(outcome.ranks.begin(), outcome.ranks.end(), [](const auto& r) { return r.ring.has_value(); });
  if (any) {
    scenarios::RecordOrigin origin;
    origin.scenario = fs::path(flags.command.front()).filename().string();
    origin.world = flags.on.empty() ? "processes" : flags.on;
    const fs::path path = fs::path(flags.records) / events_name;
    const Status written = write_whole_file(
        path.string(), scenarios::origin_line(origin) + scenarios::events_jsonl(scenarios::run_of_launch(outcome)));
    if (!written.ok()) return written;
  }
  std::error_code ignored;
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r)
    fs::remove(fs::path(flags.records) / record_file_name(static_cast<Rank>(r)), ignored);
  if (failed)
    console.problem(
        any ? fmt::format("`pdsim diagnose {}` explains the flight records", flags.records)
            : "no rank has kept a flight record; pdsim's own commands on real worlds keep one, and programs that use "
              "RecordFile");
  return {};
}

// Says which ranks wait for which in a running job that makes no progress; empty: no rank is in a call.
std::string who_waits(const LaunchOutcome& now) {
  scenarios::Scenario nothing;
  const scenarios::Report report = scenarios::analyse(nothing, scenarios::run_of_launch(now), scenarios::RunWorld("processes"));
  if (report.blocked.empty()) return {};
  // While calls are only missing so far, the waiting ranks are the whole story.
  if (report.diagnosis() && report.diagnosis()->id != "missing-call") return report.diagnosis()->headline;
  const scenarios::BlockedRank& first = report.blocked.front();
  std::vector<Rank> alike;
  for (const scenarios::BlockedRank& b : report.blocked)
    if (b.in == first.in && b.seq == first.seq && b.group == first.group && b.waits_for == first.waits_for)
      alike.push_back(b.rank);
  std::string text = fmt::format("{} {} in {}", ranks_text(alike), alike.size() == 1 ? "waits" : "wait", first.in);
  if (first.seq >= 0) text += fmt::format(" #{} of group {}", first.seq, first.group);
  if (!first.awaits_nobody()) text += " for " + scenarios::awaited_text(first);
  return first.why.empty() ? text : text + ", " + first.why;
}

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
      problem = "processes cannot be started in the simulated world; remove --on, or name " +
                scenarios::names_of_worlds(false);
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

std::string in_json(const LaunchFlags& flags, const LaunchOutcome& outcome) {
  nlohmann::ordered_json json{{"version", scenarios::json_version},
                              {"status", outcome.status},
                              {"quiet", outcome.quiet},
                              {"ranks", nlohmann::ordered_json::array()}};
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    const RankOutcome& rank = outcome.ranks[r];
    nlohmann::ordered_json row{{"rank", r}};
    if (rank.ended && rank.ended->signal == 0) row["exit_status"] = rank.ended->exit_status;
    if (rank.ended && rank.ended->signal != 0) row["signal"] = rank.ended->signal;
    if (const std::string last = rank.ring ? last_call_text(rank.ring->log) : std::string(); !last.empty())
      row["last_call"] = last;
    json["ranks"].push_back(std::move(row));
  }
  if (!flags.records.empty()) json["records"] = flags.records;
  return scenarios::printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

int run(LaunchFlags& flags, Console& console) {
  if (const int refused = refuse(flags, console); refused != exit_held) return refused;
  if (const Status records = flags.records.empty() ? Status{} : prepare_records(flags); !records.ok()) {
    console.problem(records.error().message + "; nothing was run");
    return status_of(records.error());
  }
  LaunchOptions options;
  options.ranks = flags.ranks;
  options.command = flags.command;
  options.patience = parse_time(flags.patience).value();
  options.grace = parse_time(flags.grace).value();
  if (!flags.on.empty()) options.take_slots = real_world_row(flags.on)->take_slots;
  options.records = flags.records;
  options.explain = who_waits;
  options.all_to_stderr = flags.json;
  return run_guarded_command(console, [&]() -> int {
    Status kept;
    const auto at_end = [&](const LaunchOutcome& outcome) {
      if (!flags.records.empty()) kept = keep_records(flags, outcome, console);
      if (!kept.ok()) console.problem(kept.error().message + "; the files rank_N.ring stay");
      if (flags.json && outcome.problem.ok()) console.print(in_json(flags, outcome));
    };
    const Result<LaunchOutcome> launched = launch_ranks(options, at_end);
    if (launched.ok() && !kept.ok()) return exit_failed;
    const Status how = launched.ok() ? launched->problem : launched.status();
    if (how.ok()) return launched->status;
    if (how.error().code != Code::cancelled) console.problem(how.error().message);
    return status_of(how.error());
  });
}

}  // namespace

Action declare_launch(CLI::App& app) {
  const auto flags = std::make_shared<LaunchFlags>();
  app.add_option("-n,--ranks", flags->ranks, "how many")->required()->check(CLI::Range(1, most_launched));
  app.add_option("--on", flags->on,
                 scenarios::names_of_worlds(false) + ": is it there? and with mpi, as ranks of an mpirun");
  app.add_option("--patience", flags->patience, "how long a rank may be stopped, or all ranks be silent")
      ->check(time_problem)
      ->capture_default_str();
  app.add_option("--grace", flags->grace, "from SIGTERM to SIGKILL, when the job ends")
      ->check(time_problem)
      ->capture_default_str();
  app.add_option("--records", flags->records,
                 "folder for the flight records of the ranks, which pdsim diagnose explains")
      ->check(folder_name_problem);
  app.add_flag("--json", flags->json, "how the job and each rank ended, as one JSON object; what the ranks print goes to standard error");
  app.add_option("PROGRAM", flags->command, "the program and, after --, its arguments")->required();
  return [flags](Console& console) { return run(*flags, console); };
}

}  // namespace pdsim::tools
