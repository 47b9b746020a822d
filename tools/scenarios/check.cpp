// pdsim check: loads scenario files without running them.

#include "scenarios/text/printable_json.h"
#include "tools/command.h"
#include "tools/scenarios/load.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::string variant;
  bool print = false;
  bool table = false;
  bool json = false;
};

// "mine.yaml: fixed" before a table when there are several.
std::string title(const scenarios::Scenario& scenario) {
  return scenario.variant.empty() ? scenario.file : fmt::format("{}: {}", scenario.file, scenario.variant);
}

std::vector<std::string> names_of(const std::vector<const scenarios::Scenario*>& variants) {
  std::vector<std::string> names;
  for (const scenarios::Scenario* scenario : variants) names.push_back(scenario->variant);
  return names;
}

bool show(const scenarios::LoadedFile& file, const CheckOptions& options, Console& console) {
  const auto variants = select_variants(file, options.variant, console);
  if (!variants) return false;
  if (options.print && variants->size() > 1) {
    console.problem(fmt::format("{} has {} variants; --print shows one: add --variant and one of {}", file.file,
                                variants->size(), fmt::join(names_of(*variants), ", ")));
    return false;
  }
  for (const scenarios::Scenario* scenario : *variants) {
    if (options.print) console.print(scenarios::effective_document(file, scenario->variant));
    if (options.table) console.print(fmt::format("{}\n{}", title(*scenario), scenarios::program_table(*scenario)));
  }
  if (!options.print && !options.table) {
    const std::size_t count = variants->size();
    console.print(fmt::format("{}: ok, {} variant{}\n", file.file, count, count == 1 ? "" : "s"));
  }
  return true;
}

// One object of each file, with everything that was found in it.
bool show_json(const Checked& one, const CheckOptions& options, Console& console) {
  nlohmann::ordered_json json{{"version", scenarios::json_version},
                              {"file", one.file ? one.file->file : one.argument},
                              {"ok", one.file && one.file->errors == 0},
                              {"variants", nlohmann::ordered_json::array()}};
  const auto add = [&json](const Problem& problem) {
    json["problems"].push_back(nlohmann::ordered_json::parse(json_of(problem)));
  };
  std::string table, document;
  bool found = options.variant.empty();
  for (const scenarios::Scenario& scenario : one.file ? one.file->variants : std::vector<scenarios::Scenario>{}) {
    if (!options.variant.empty() && scenario.variant != options.variant) continue;
    found = true;
    if (!scenario.variant.empty()) json["variants"].push_back(scenario.variant);
    if (options.table) table += fmt::format("{}\n{}", title(scenario), scenarios::program_table(scenario));
    if (options.print) document = scenarios::effective_document(*one.file, scenario.variant);
  }
  if (!table.empty()) json["table"] = table;
  if (!document.empty()) json["document"] = document;
  json["problems"] = nlohmann::ordered_json::array();
  if (!one.file) add({one.argument, {false, one.problem, {}, {}}});
  if (one.file)
    for (const scenarios::Diagnostic& diagnostic : one.file->diagnostics) add({one.file->file, diagnostic});
  if (!found && json["ok"].get<bool>()) {
    add({one.file->file, {false, fmt::format("there is no variant `{}`", options.variant), {}, {}}});
    json["ok"] = false;
  }
  console.print(scenarios::printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n");
  return json["ok"].get<bool>();
}

int check(const CheckOptions& options, Console& console) {
  if (options.json) {
    bool ok = true;
    for (const Checked& one : check_all(options.files)) ok = show_json(one, options, console) && ok;
    return ok ? exit_held : exit_wrong_input;
  }
  const auto files = load_all(options.files, console);
  if (!files) return exit_wrong_input;
  for (const scenarios::LoadedFile& file : *files)
    if (!show(file, options, console)) return exit_wrong_input;
  return exit_held;
}

}  // namespace

Action declare_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "scenario files, or names of the catalog")->required();
  app.add_option("--variant", options->variant, "only this variant");
  app.add_flag("--print", options->print, "the whole document, the variant's settings applied");
  app.add_flag("--table", options->table, "what every rank does in every step");
  app.add_flag("--json", options->json, "one JSON object per file, with every error and its place");
  return [options](Console& console) { return check(*options, console); };
}

}  // namespace pdsim::tools
