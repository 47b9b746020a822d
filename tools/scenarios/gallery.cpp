// pdsim gallery: the catalog as pages, each made by running its file in the simulated world.

#include "scenarios/run/run_scenarios.h"
#include "scenarios/run/tried_cures.h"
#include "scenarios/text/printable_json.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/load.h"
#include "tools/scenarios/report_folder.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

struct GalleryOptions {
  std::vector<std::string> files;
  std::string out;
  bool json = false;
};

struct Written {
  std::vector<scenarios::IndexFile> index;
  std::size_t reports = 0, unexpected = 0;
};

// The reports of one file are dropped when they are written, so that memory goes with the largest one.
Status add_file(const scenarios::LoadedFile& file, const scenarios::WorldRow& world, const std::string& out,
                Written& written) {
  scenarios::RunOptions how;
  how.record_messages = true;
  std::vector<scenarios::Report> reports;
  for (const scenarios::Scenario& variant : file.variants) {
    Result<scenarios::Report> report = scenarios::run_scenario(variant, world, how);
    if (!report.ok()) return report.error();
    scenarios::try_cures(*report, world, how);
    written.reports += report->verdict == scenarios::Verdict::skip ? 0 : 1;
    written.unexpected += report->verdict == scenarios::Verdict::fail ? 1 : 0;
    reports.push_back(std::move(*report));
  }
  Result<scenarios::IndexFile> row = write_reports(file, reports, out, how.strategy);
  if (!row.ok()) return row.error();
  written.index.push_back(std::move(*row));
  return {};
}

int run(const GalleryOptions& options, Console& console) {
  const auto files = load_all(options.files.empty() ? catalog_files() : options.files, console, Warnings::left_out);
  if (!files) return exit_wrong_input;
  if (const Status folder = prepare_output_folder("--out", options.out); !folder.ok()) {
    console.problem(folder.error().message + "; nothing was run");
    return status_of(folder.error());
  }
  std::string problem;
  const scenarios::WorldRow& world = *scenarios::world_named("sim", problem);
  Written written;
  for (const scenarios::LoadedFile& file : *files)
    if (const Status added = add_file(file, world, options.out, written); !added.ok()) {
      console.problem(fmt::format("{}: {}", file.file, added.error().message));
      return status_of(added.error());
    }
  if (const Status index = write_index("pdsim: the gallery", written.index, options.out); !index.ok()) {
    console.problem(index.error().message);
    return status_of(index.error());
  }
  if (options.json)
    console.print(scenarios::printable_json(nlohmann::ordered_json{{"version", scenarios::json_version},
                                                                   {"index", options.out + "/index.html"},
                                                                   {"scenarios", written.index.size()},
                                                                   {"reports", written.reports},
                                                                   {"unexpected", written.unexpected}}
                                                .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
                  "\n");
  else
    console.print(fmt::format("{}/index.html: {} scenarios, {} reports, {} of them not as expected\n", options.out,
                              written.index.size(), written.reports, written.unexpected));
  return written.unexpected == 0 ? exit_held : exit_did_not_hold;
}

}  // namespace

Action declare_gallery(CLI::App& app) {
  const auto options = std::make_shared<GalleryOptions>();
  app.add_option("FILE", options->files, "scenario files, or names of the catalog; default: the whole catalog");
  app.add_option("--out", options->out, "folder for index.html and a report of each variant")
      ->required()
      ->check(folder_name_problem);
  app.add_flag("--json", options->json, "one JSON object: where the index is, and how many reports there are");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace pdsim::tools
