// pdsim scenario: runs scenario files and checks their expectations.

#include "core/base/quantity.h"
#include "scenarios/engine/run_scenarios.h"
#include "tools/command.h"
#include "tools/load.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

struct ScenarioOptions {
  std::vector<std::string> files;
  std::string variant;
  std::optional<std::uint64_t> seed;
  std::string on = "sim";
  std::string strategy = "fifo";
  std::string patience = "10s";
  std::string out = "pdsim-out";
  bool check_determinism = false, quiet = false, json = false;
};

// "" when `text` is a strategy; otherwise what would be one.
std::string strategy_problem(const std::string& text) {
  constexpr std::string_view replay = "replay:";
  if (text == "fifo" || text == "random") return "";
  const bool digits =
      text.starts_with(replay) && text.find_first_not_of("0123456789.", replay.size()) == std::string::npos;
  return digits ? "" : fmt::format("`{}` is no strategy; write fifo, random or replay:0.1.1", text);
}

std::string patience_problem(const std::string& text) {
  const Result<Time> time = parse_time(text);
  return time ? "" : time.error().message;
}

// Creates the folder; tells why it cannot be written to.
std::string folder_problem(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path probe = folder / ".pdsim-writable";
  const bool written = !error && std::ofstream(probe).put('\n').flush().good();
  std::error_code ignored;
  fs::remove(probe, ignored);
  if (written) return "";
  return fmt::format("cannot write to --out {}{}", folder.string(), error ? ": " + error.message() : "");
}

}  // namespace

Action declare_scenario(CLI::App& app) {
  const auto options = std::make_shared<ScenarioOptions>();
  app.add_option("FILE", options->files, "scenario files, or names of the catalog")->required();
  app.add_option("--variant", options->variant, "only this variant; default: all");
  app.add_option("--seed", options->seed, "instead of the file's");
  app.add_option("--on", options->on, "the world: sim, gloo, mpi or nccl")->capture_default_str();
  app.add_option("--strategy", options->strategy, "who runs next: fifo, random or replay:0.1.1")
      ->check(strategy_problem)
      ->capture_default_str();
  app.add_flag("--check-determinism", options->check_determinism, "run everything twice and compare");
  app.add_option("--patience", options->patience, "real worlds: how long without progress is a hang")
      ->check(patience_problem)
      ->capture_default_str();
  app.add_option("--out", options->out, "folder for reports and traces")->capture_default_str();
  app.add_flag("--quiet", options->quiet, "only the verdicts");
  app.add_flag("--json", options->json, "one JSON object per file");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace pdsim::tools
