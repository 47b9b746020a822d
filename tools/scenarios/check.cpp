// pdsim check: loads scenario files without running them.

#include "tools/command.h"
#include "tools/scenarios/load.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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
    console.print(fmt::format("{}: fine, {} variant{}\n", file.file, count, count == 1 ? "" : "s"));
  }
  return true;
}

int check(const CheckOptions& options, Console& console) {
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
  return [options](Console& console) { return check(*options, console); };
}

}  // namespace pdsim::tools
