#include "tools/scenarios/load.h"

#include "core/base/nearest.h"
#include "tools/catalog.h"
#include "tools/shell/likely_command.h"

#include <fmt/format.h>

namespace pdsim::tools {

std::vector<Checked> check_all(const std::vector<std::string>& arguments) {
  std::vector<Checked> all;
  for (const std::string& argument : arguments) {
    Checked& one = all.emplace_back();
    one.argument = argument;
    const Result<std::string> path = find_scenario(argument);
    Result<scenarios::LoadedFile> file = path.ok() ? scenarios::load_file(*path) : path.error();
    if (file.ok())
      one.file = std::move(*file);
    else
      one.problem = file.error().message;
  }
  return all;
}

std::optional<std::vector<scenarios::LoadedFile>> load_all(const std::vector<std::string>& arguments,
                                                           Console& console, Warnings warnings) {
  std::vector<scenarios::LoadedFile> files;
  int errors = 0, faulty = 0;
  for (Checked& one : check_all(arguments)) {
    std::optional<scenarios::LoadedFile>& file = one.file;
    if (!file) {
      const std::string better = better_command(one.argument, "scenario");
      const std::string& what = better.empty() ? one.problem : better;
      console.problem(fmt::format("pdsim: {}\n", what), {one.argument, {false, what, {}, {}}});
      ++errors;
      ++faulty;
      continue;
    }
    if (warnings == Warnings::told || file->errors > 0)
      for (const scenarios::Diagnostic& diagnostic : file->diagnostics)
        console.problem(file->file, file->text, diagnostic);
    errors += file->errors;
    faulty += file->errors > 0 ? 1 : 0;
    files.push_back(std::move(*file));
  }
  if (errors == 0) return files;
  const std::string in_files = arguments.size() > 1 ? fmt::format(" in {} of {} files", faulty, arguments.size()) : "";
  console.say(fmt::format("{} error{}{}; nothing was run\n", errors, errors == 1 ? "" : "s", in_files));
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
                      ? fmt::format("{} has no variants, so none is named `{}`", file.file, name)
                      : fmt::format("{} has no variant `{}`; it has {}", file.file, name, fmt::join(names, ", ")));
  return std::nullopt;
}

}  // namespace pdsim::tools
