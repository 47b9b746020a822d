#include "tools/scenarios/load.h"

#include "core/base/nearest.h"
#include "tools/catalog.h"

#include <fmt/format.h>

namespace pdsim::tools {

std::optional<std::vector<scenarios::LoadedFile>> load_all(const std::vector<std::string>& arguments,
                                                           Console& console, Warnings warnings) {
  std::vector<scenarios::LoadedFile> files;
  int errors = 0;
  for (const std::string& argument : arguments) {
    const Result<std::string> path = find_scenario(argument);
    if (!path) {
      console.problem(path.error().message);
      ++errors;
      continue;
    }
    Result<scenarios::LoadedFile> file = scenarios::load_file(*path);
    if (!file) {
      console.problem(file.error().message);
      ++errors;
      continue;
    }
    if (warnings == Warnings::told || file->errors > 0)
      for (const scenarios::Diagnostic& diagnostic : file->diagnostics)
        console.say(scenarios::render(*file, diagnostic));
    errors += file->errors;
    files.push_back(std::move(*file));
  }
  if (errors == 0) return files;
  console.say(fmt::format("{} error{}; nothing was run\n", errors, errors == 1 ? "" : "s"));
  return std::nullopt;
}

std::optional<std::vector<const scenarios::Scenario*>> select_variants(const scenarios::LoadedFile& file,
                                                                       std::string_view name, Console& console) {
  std::vector<const scenarios::Scenario*> selected;
  std::vector<std::string> names;
  for (const scenarios::Scenario& scenario : file.variants) {
    if (name.empty() || scenario.variant == name) selected.push_back(&scenario);
    if (!scenario.variant.empty()) names.push_back(scenario.variant);
  }
  if (!selected.empty()) return selected;
  console.problem(names.empty()
                      ? fmt::format("{} has no variants, so none is called `{}`", file.file, name)
                      : fmt::format("{} has no variant `{}`; it has {}", file.file, name, fmt::join(names, ", ")));
  return std::nullopt;
}

}  // namespace pdsim::tools
