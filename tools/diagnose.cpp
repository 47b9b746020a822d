// pdsim diagnose: the diagnosis of saved flight records, without running anything.

#include "scenarios/engine/analyse.h"
#include "scenarios/engine/loader.h"
#include "scenarios/engine/record_json.h"
#include "scenarios/engine/record_origin.h"
#include "scenarios/engine/text_report.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

// The records below a folder, or the file itself. Empty, and the problem told, when there are none.
std::vector<fs::path> records_at(const std::string& argument, Console& console) {
  std::error_code error;
  std::vector<fs::path> found;
  const fs::file_status status = fs::status(argument, error);
  if (fs::is_directory(status)) {
    for (fs::recursive_directory_iterator it(argument, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error))
      if (it->path().filename() == "events.jsonl") found.push_back(it->path());
    std::sort(found.begin(), found.end());
    if (found.empty())
      console.problem(
          fmt::format("no events.jsonl below {}; `pdsim scenario --out {}` writes them", argument, argument));
  } else if (fs::exists(status)) {
    found.emplace_back(argument);
  } else {
    console.problem(fmt::format("there is no file or folder {}", argument));
  }
  return found;
}

std::optional<std::string> read(const fs::path& path, Console& console) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > most_bytes) {
    console.problem(error ? fmt::format("cannot read {}: {}", path.string(), error.message())
                          : fmt::format("{} is larger than 1GiB, which no flight record is", path.string()));
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
      if (source.file.errors == 0 && variant.variant == origin->variant) {
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

int diagnose(const fs::path& path, Console& console) {
  const std::optional<std::string> text = read(path, console);
  if (!text) return exit_wrong_input;
  Result<RunRecord> run = scenarios::run_from_jsonl(*text);
  if (!run.ok()) {
    console.problem(fmt::format("{}: {}", path.string(), run.error().message));
    return exit_wrong_input;
  }
  const std::optional<scenarios::RecordOrigin> origin = scenarios::origin_from_jsonl(*text);
  const Source source = source_of(origin, *run, path);
  const scenarios::Report report =
      scenarios::analyse(source.scenario, std::move(*run), origin && !origin->world.empty() ? origin->world : "sim");
  scenarios::TextOptions options;
  options.source = source.file.text;
  console.print(scenarios::render_diagnosis(report, options));
  return exit_held;
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  const auto arguments = std::make_shared<std::vector<std::string>>();
  app.add_option("RECORD", *arguments, "events.jsonl files, or folders that hold some")->required();
  return [arguments](Console& console) -> int {
    int worst = exit_held;
    bool first = true;
    for (const std::string& argument : *arguments) {
      const std::vector<fs::path> records = records_at(argument, console);
      if (records.empty()) worst = std::max<int>(worst, exit_wrong_input);
      for (const fs::path& record : records) {
        if (!first) console.print("\n");
        first = false;
        worst = std::max(worst, diagnose(record, console));
      }
    }
    return worst;
  };
}

}  // namespace pdsim::tools
