// pdsim diagnose: the diagnosis of saved flight records, ours or those of a PyTorch job, without running anything.

#include "backends/os/machine_memory.h"
#include "backends/os/whole_file.h"
#include "scenarios/guests/real/recorded_run.h"
#include "scenarios/language/loader.h"
#include "scenarios/records/launch_record.h"
#include "scenarios/records/pytorch/files.h"
#include "scenarios/records/pytorch/job.h"
#include "scenarios/records/pytorch/write.h"
#include "scenarios/records/record_json.h"
#include "scenarios/records/record_origin.h"
#include "scenarios/reports/dumped/dump_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/text/path_part.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/explain/diagnose_live.h"
#include "tools/explain/diagnose_logs.h"
#include "tools/explain/diagnose_ranks.h"
#include "tools/flags/trial_flags.h"
#include "tools/explain/job_output.h"
#include "tools/scenarios/script/saved_file.h"
#include "tools/shell/likely_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

// Where the records go in PyTorch's form, if anywhere, and how the jobs are told.
struct Output {
  std::string folder;
  std::string form = "pickle";
  JobOutput jobs;
  std::string save;  // scenario file for the calls of ranks that recorded themselves
};

// The input to diagnose: records of our own, and jobs of PyTorch.
struct Found {
  std::vector<fs::path> records;
  std::vector<scenarios::pytorch::DumpedJob> jobs;
  std::vector<std::string> ranks;  // records of a script's ranks beside their own library
  std::vector<std::string> logs;   // of a folder that has none of these
};

// Returns everything below a folder, or the file itself. Empty, and the problem printed, if there is nothing.
Found found_at(const std::string& argument, Console& console) {
  std::error_code error;
  Found all;
  std::vector<fs::path>& found = all.records;
  std::set<fs::path> rings;
  const fs::file_status status = fs::status(argument, error);
  if (fs::is_directory(status)) {
    for (fs::recursive_directory_iterator it(argument, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error))
      if (it->path().filename() == "events.jsonl")
        found.push_back(it->path());
      else if (scenarios::is_ring_name(it->path().filename().string()))
        rings.insert(it->path().parent_path());
    found.insert(found.end(), rings.begin(), rings.end());
    std::sort(found.begin(), found.end());
    all.jobs = scenarios::pytorch::jobs_below(argument);
    all.ranks = scenarios::guests::records_below(argument);
    const bool has_records = !found.empty() || !all.jobs.empty() || !all.ranks.empty();
    if (!has_records) all.logs = log_files_below(argument);
    if (!has_records && all.logs.empty())
      console.problem(
          fmt::format("no events.jsonl below {} (`pdsim scenario --out {}` writes it), no rank_N.ring of "
                      "PDSIM_FLIGHT_RECORD, no record of PDSIM_RECORD, no dump of PyTorch's Flight Recorder, and no "
                      "log (.log, .out, .err, .txt)",
                      argument, argument));
  } else if (fs::exists(status)) {
    found.emplace_back(argument);
  } else {
    console.problem(fmt::format("there is no file or folder {}", argument));
  }
  return all;
}

std::optional<std::string> read(const fs::path& path, Console& console) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > most_bytes) {
    console.problem(error ? fmt::format("cannot read {}: {}", path.string(), error.message())
                          : fmt::format("{} is larger than 1GiB, so it is not a flight record", path.string()));
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    console.problem(fmt::format("cannot read {}", path.string()));
    return std::nullopt;
  }
  return text.str();
}

// The variant that was run, out of the text that was kept; else the little that the record itself tells.
struct Source {
  scenarios::LoadedFile file;
  scenarios::Scenario scenario;
};

Source source_of(const std::optional<scenarios::RecordOrigin>& origin, const RunRecord& run, const fs::path& path) {
  Source source;
  if (origin && !origin->source.empty()) {
    source.file = scenarios::load_text(origin->file, origin->source);
    for (const scenarios::Scenario& variant : source.file.variants)
      if (source.file.errors == 0 && variant.variant == origin->variant &&
          static_cast<std::size_t>(variant.world.spec.ranks()) == run.ranks.size()) {
        source.scenario = variant;
        source.scenario.seed = source.scenario.world.spec.seed = origin->seed;
        return source;
      }
  }
  source.file.text.clear();
  source.scenario.name = origin ? origin->scenario : path.stem().string();
  source.scenario.variant = origin ? origin->variant : "";
  source.scenario.file = origin ? origin->file : path.string();
  source.scenario.seed = origin ? origin->seed : 0;
  source.scenario.world.spec.ranks_per_node = static_cast<int>(run.ranks.size());
  return source;
}

// One file per rank, in `folder`.
int write_dumps(const std::vector<scenarios::pytorch::Dump>& dumps, const fs::path& folder, const Output& writing,
                Console& console) {
  const bool as_json = writing.form == "json";
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<WholeFile> files;
  for (const scenarios::pytorch::Dump& dump : dumps)
    files.push_back({(folder / fmt::format("rank_{}{}", dump.rank, as_json ? ".json" : "")).string(),
                     as_json ? scenarios::pytorch::json_text(dump) : scenarios::pytorch::pickle_text(dump)});
  if (const Status written = write_whole_files(files); !written.ok()) {
    console.problem(written.error().message);
    return status_of(written.error());
  }
  console.print(fmt::format("written  {}, {} file{}\n", (folder / "rank_N").string() + (as_json ? ".json" : ""),
                            dumps.size(), dumps.size() == 1 ? "" : "s"));
  return exit_held;
}

void tell_left_out(const LeftOut& left_out, const std::string& path, Console& console) {
  for (const std::string& what : left_out.named()) console.problem(fmt::format("{}: {}; left out", path, what));
  if (const std::size_t more = left_out.count() - left_out.named().size(); more > 0)
    console.problem(fmt::format("{}: {} more left out", path, more));
}

// Returns the library of a record's calls, as PyTorch writes it before the colon.
std::string library_of(const scenarios::Report& report) {
  return report.world.is_simulated() ? report.scenario->world.spec.backend : report.world.name();
}

int diagnose(const fs::path& path, Output& writing, Console& console) {
  const bool is_rings = fs::is_directory(path);
  const std::optional<std::string> text = is_rings ? "" : read(path, console);
  if (!text) return exit_wrong_input;
  Result<scenarios::SavedRun> saved =
      is_rings ? scenarios::run_of_rings(path.string()) : scenarios::run_from_jsonl(*text);
  if (!saved.ok()) {
    console.problem_of(path.string(), saved.error().message);
    return exit_wrong_input;
  }
  tell_left_out(saved->left_out, path.string(), console);
  int status = saved->left_out.empty() ? exit_held : exit_wrong_input;
  std::optional<scenarios::RecordOrigin> origin = scenarios::origin_from_jsonl(*text);
  if (is_rings) origin = scenarios::RecordOrigin{path.filename().string(), "", "", "processes", 0, ""};
  const Source source = source_of(origin, saved->run, path);
  const scenarios::Report report = scenarios::analyse(
      source.scenario, std::move(saved->run),
      origin && !origin->world.empty() ? scenarios::RunWorld(origin->world) : scenarios::RunWorld());
  scenarios::TextOptions options;
  options.source = source.file.text;
  status = std::max(status, writing.jobs.show(report, scenarios::render_diagnosis(report, options), console));
  if (writing.folder.empty()) return status;
  fs::path folder = fs::path(writing.folder) / path_part(source.scenario.name);
  if (!source.scenario.variant.empty()) folder /= path_part(source.scenario.variant);
  return std::max(status, write_dumps(scenarios::pytorch::dumps_of(
                                          report.run, {library_of(report), source.scenario.file,
                                                       source.scenario.world.spec.timeout.value_or(Time{})}),
                                      folder, writing, console));
}

// A file that cannot be used is named, here and in the report, and costs only itself.
int diagnose(const scenarios::pytorch::DumpedJob& job, Output& writing, Console& console) {
  scenarios::pytorch::ReadJob read_files = scenarios::pytorch::read_job(job);
  for (const std::string& line : scenarios::left_out_lines(read_files.left_out)) console.problem(line);
  if (read_files.dumps.empty()) return exit_wrong_input;
  const bool writes = !writing.folder.empty();
  Result<RunRecord> run = scenarios::pytorch::run_of(writes ? read_files.dumps : std::exchange(read_files.dumps, {}),
                                                     read_files.unreadable);
  if (!run.ok()) {
    console.problem_of(job.name, run.error().message);
    return exit_wrong_input;
  }
  scenarios::Scenario scenario;
  scenario.name = job.name;
  scenario.world.spec.ranks_per_node = static_cast<int>(run->ranks.size());
  scenarios::Report report = scenarios::analyse(scenario, std::move(*run), scenarios::RunWorld(scenarios::pytorch_world));
  report.left_out = std::move(read_files.left_out);
  const bool is_faulty = std::any_of(report.left_out.begin(), report.left_out.end(),
                                     [](const scenarios::LeftOutFile& file) { return file.is_fault; });
  int status = is_faulty ? exit_wrong_input : exit_held;
  status = std::max(status, writing.jobs.show(report, scenarios::render_dumps(report), console));
  if (writing.folder.empty()) return status;
  return std::max(status,
                  write_dumps(read_files.dumps, fs::path(writing.folder) / path_part(job.name), writing, console));
}

// A scenario, a plan or a script in place of a record.
std::string meant_for_another(const std::string& argument) {
  std::error_code error;
  return fs::is_directory(argument, error) ? std::string() : better_command(argument, "diagnose");
}

int diagnose_all(const std::vector<std::string>& arguments, Output& writing, Console& console) {
  int worst = exit_held;
  bool first = true;
  const auto add = [&](const auto& one) {
    if (!first && !writing.jobs.json()) console.print("\n");
    first = false;
    worst = std::max(worst, diagnose(one, writing, console));
  };
  std::vector<std::string> files;  // of PyTorch jobs, which are one per rank
  std::vector<std::string> logs;   // of one job
  std::vector<std::string> ranks;  // of one job, which may have several machines and a folder on each
  std::string name_of_ranks;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (fs::is_regular_file(argument, error) && scenarios::pytorch::is_dump_file(argument)) {
      files.push_back(argument);
      continue;
    }
    if (const std::string other = meant_for_another(argument); !other.empty()) {
      console.problem(other);
      worst = std::max<int>(worst, exit_wrong_input);
      continue;
    }
    if (is_log_file(argument)) {
      logs.push_back(argument);
      continue;
    }
    const Found found = found_at(argument, console);
    logs.insert(logs.end(), found.logs.begin(), found.logs.end());
    if (found.records.empty() && found.jobs.empty() && found.ranks.empty() && found.logs.empty())
      worst = std::max<int>(worst, exit_wrong_input);
    for (const fs::path& record : found.records) add(record);
    for (const scenarios::pytorch::DumpedJob& job : found.jobs) add(job);
    ranks.insert(ranks.end(), found.ranks.begin(), found.ranks.end());
    if (!found.ranks.empty() && name_of_ranks.empty()) name_of_ranks = argument;
  }
  for (const scenarios::pytorch::DumpedJob& job : scenarios::pytorch::jobs_of(files)) add(job);
  if (!ranks.empty()) {
    if (!first && !writing.jobs.json()) console.print("\n");
    first = false;
    worst = std::max(worst, diagnose_rank_records(ranks, name_of_ranks, writing.save, writing.jobs, console));
  }
  if (ranks.empty() && !writing.save.empty()) {
    console.problem("--save needs records of PDSIM_RECORD, and there are none; nothing was saved");
    worst = std::max<int>(worst, exit_wrong_input);
  }
  if (logs.empty()) return worst;
  if (!first && !writing.jobs.json()) console.print("\n");
  return std::max(worst, diagnose_log_files(logs, writing.jobs, console));
}

int live_job(const std::string& url, const std::string& wait, const std::string& again, Output& writing, Console& console) {
  const auto limit = parse_time(wait), pause = parse_time(again);
  if (!limit.ok() || *limit <= Time{}) {
    console.problem(limit.ok() ? "--wait: it must be longer than zero" : "--wait: " + limit.error().message);
    return exit_wrong_input;
  }
  if (!pause.ok() || *pause < Time{}) {
    console.problem(pause.ok() ? "--again: it must not be negative" : "--again: " + pause.error().message);
    return exit_wrong_input;
  }
  if (!writing.folder.empty()) {
    console.problem("--out is for files; a live job's records are only explained");
    return exit_wrong_input;
  }
  return diagnose_live(url, {*limit, *pause}, writing.jobs, console);
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  const auto arguments = std::make_shared<std::vector<std::string>>();
  app.add_option("RECORD", *arguments,
                 "events.jsonl files, dumps of PyTorch's Flight Recorder (one file per rank), plain logs of a job's "
                 "ranks (mixed or "
                 "one file per rank), or folders that hold one of these, rank_N.ring, or what ranks "
                 "recorded with PDSIM_RECORD");
  const auto live = std::make_shared<std::string>();
  const auto wait = std::make_shared<std::string>("20s"), again = std::make_shared<std::string>("11s");
  app.add_option("--live", *live,
                 "http://HOST:25999: ask PyTorch's debug server of a job that hangs now (2.10 and newer)");
  app.add_option("--wait", *wait, "for each answer of --live")->capture_default_str();
  app.add_option("--again", *again,
                 "until --live asks once more, where nothing is found and a call is open; 0s: asks once")
      ->capture_default_str();
  const auto folder = std::make_shared<std::string>(), form = std::make_shared<std::string>("pickle"),
             html = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  app.add_option("--out", *folder, "folder to write them into in PyTorch's form as well, one file per rank");
  app.add_option("--form", *form, "of those files: pickle, as PyTorch writes them, or json")
      ->capture_default_str();
  app.add_option("--html", *html,
                 "page with the report and a picture of the calls: FILE.html of one job, or a folder with a page for each");
  const auto save = std::make_shared<std::string>();
  app.add_option("--save", *save, "scenario file, such as mine.yaml, to write the calls recorded with PDSIM_RECORD to");
  app.add_flag("--json", *json,
               "one JSON object per job, on one line: what was found, who is to blame, who waits");
  return [arguments, folder, form, html, json, live, wait, again, save](Console& console) -> int {
    Output writing{*folder, *form, JobOutput(*json, *html), *save};
    if (arguments->empty() == live->empty()) {
      console.problem(arguments->empty() ? "give it files or folders to read, or --live http://HOST:25999"
                                         : "--live reads from a running job, not from files; run one after the other");
      return exit_wrong_input;
    }
    if (const int status = writing.jobs.prepare(console); status != exit_held) return status;
    if (const std::string problem = save_problem(*save); !problem.empty()) {
      console.problem(problem + "; nothing was read");
      return exit_wrong_input;
    }
    keep_freed_memory();
    if (!live->empty()) return live_job(*live, *wait, *again, writing, console);
    if (*json && !writing.folder.empty()) {
      console.problem("--json and --out exclude each other; run them one after the other");
      return exit_wrong_input;
    }
    if (writing.form != "pickle" && writing.form != "json") {
      console.problem(fmt::format("--form {}: expected pickle or json", writing.form));
      return exit_wrong_input;
    }
    if (!writing.folder.empty())
      if (const Status place = prepare_output_folder("--out", writing.folder); !place.ok()) {
        console.problem(place.error().message);
        return status_of(place.error());
      }
    return diagnose_all(*arguments, writing, console);
  };
}

}  // namespace pdsim::tools
