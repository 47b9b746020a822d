#include "tools/shell/completion_values.h"

#include "core/base/types.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/semantics/libraries.h"
#include "core/semantics/profile.h"
#include "scenarios/language/loader.h"
#include "scenarios/worlds/worlds.h"
#include "sim/run.h"
#include "tools/catalog.h"
#include "tools/explain/explained_names.h"
#include "tools/labs/lab_book.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

template <class Rows>
Words names_of_rows(const Rows& rows) {
  Words names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

template <class... More>
Words joined(Words names, const More&... more) {
  (names.insert(names.end(), more.begin(), more.end()), ...);
  return names;
}

// Below the folder that the typed word names: folders, which end with /, and the files with one of the endings.
Words files_with(const Words& words, std::initializer_list<std::string_view> endings) {
  const std::string& typed = words.back();
  const std::string folder = typed.substr(0, typed.rfind('/') + 1), name = typed.substr(folder.size());
  Words found;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    std::error_code ignored;
    if (file.starts_with(".") && !name.starts_with(".")) continue;
    if (it->is_directory(ignored))
      found.push_back(folder + file + "/");
    else if (std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return file.ends_with(e); }))
      found.push_back(folder + file);
  }
  return found;
}

Words algorithms_and_plans(const Words& words) {
  Words names = names_of_rows(algorithms());
  for (const Algorithm& row : algorithms()) names.push_back(qualified(row));
  return joined(std::move(names), files_with(words, {".plan"}));
}

// The variants of the scenario that another word names.
Words variants(const Words& words) {
  Words names;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i].starts_with("-")) continue;
    const Result<std::string> path = find_scenario(words[i]);
    if (!path.ok()) continue;
    if (const Result<scenarios::LoadedFile> file = scenarios::load_file(*path); file.ok())
      for (const scenarios::Scenario& scenario : file->variants) names.push_back(scenario.variant);
  }
  std::erase(names, std::string());
  return names;
}

Words scenario_files(const Words& words) { return joined(catalog_names(), files_with(words, {".yaml", ".yml"})); }
Words shapes_and_scenarios(const Words& words) { return joined(scenario_files(words), files_with(words, {".json"})); }
Words explained(const Words& words) { return joined(explained_names(), files_with(words, {".plan", ".csv"})); }
Words chosen_algorithms(const Words& words) { return joined(algorithms_and_plans(words), Words{"all", "auto", "native"}); }
Words yaml_files(const Words& words) { return files_with(words, {".yaml", ".yml"}); }
Words folders(const Words& words) { return files_with(words, {}); }
Words svg_files(const Words& words) { return files_with(words, {".svg"}); }
Words html_files(const Words& words) { return files_with(words, {".html"}); }
Words kinds(const Words&) { return listed_kinds(); }
Words labs(const Words&) { return lab_numbers(); }
Words world_names(const Words&) { return names_of_rows(scenarios::worlds()); }
Words collective_names(const Words&) { return joined(names_of_rows(collective_table), Words{"all"}); }
Words dtype_names(const Words&) { return joined(names_of_rows(dtypes), Words{"all"}); }
Words op_names(const Words&) { return joined(Words(reduce_op_names.begin(), reduce_op_names.end()), Words{"all"}); }
Words engine_names(const Words&) { return names_of_rows(sim::engines); }
Words backend_names(const Words&) { return {library_names.begin(), library_names.end()}; }
Words real_library_words(const Words&) { return {real_library_names.begin(), real_library_names.end()}; }
Words profiles_of_pytorch(const Words&) { return {profile_names.begin(), profile_names.end()}; }
Words forms(const Words&) { return {"json", "pickle"}; }
Words payloads(const Words&) { return {"auto", "none", "real"}; }
Words languages(const Words&) { return {"en", "zh"}; }
Words shell_names(const Words&) { return {"bash", "fish", "zsh"}; }
Words script_worlds(const Words&) { return {"sim", "real"}; }
Words strategies(const Words&) { return {"fifo", "random"}; }
Words compute_modes(const Words&) { return {"none", "measured"}; }

template <NamedEnum E>
Words words_of_enum(const Words&) {
  return {enum_words<E>.begin(), enum_words<E>.end()};
}

// Where the values of an option or of a positional come from. An empty command: every other one that has the option.
struct ValueSource {
  std::string_view command;
  std::string_view option;  // empty: the positional
  Words (*values)(const Words& words);
};
constexpr std::array sources{
    ValueSource{"scenario", "", scenario_files},
    ValueSource{"check", "", scenario_files},
    ValueSource{"gallery", "", scenario_files},
    ValueSource{"buckets", "", shapes_and_scenarios},
    ValueSource{"explain", "", explained},
    ValueSource{"prove", "", algorithms_and_plans},
    ValueSource{"lab", "", labs},
    ValueSource{"lab", "--in", folders},
    ValueSource{"lab", "--lang", languages},
    ValueSource{"completion", "", shell_names},
    ValueSource{"list", "--what", kinds},
    ValueSource{"run", "--on", script_worlds},
    ValueSource{"run", "--compute", compute_modes},
    ValueSource{"run", "--world", yaml_files},
    ValueSource{"launch", "--on", real_library_words},
    ValueSource{"diagnose", "--form", forms},
    ValueSource{"", "--on", world_names},
    ValueSource{"", "--collective", collective_names},
    ValueSource{"", "--algorithm", chosen_algorithms},
    ValueSource{"", "--dtype", dtype_names},
    ValueSource{"", "--op", op_names},
    ValueSource{"", "--engine", engine_names},
    ValueSource{"", "--backend", backend_names},
    ValueSource{"", "--strategy", strategies},
    ValueSource{"", "--variant", variants},
    ValueSource{"", "--profile", profiles_of_pytorch},
    ValueSource{"", "--payload", payloads},
    ValueSource{"", "--out", folders},
    ValueSource{"", "--records", folders},
    ValueSource{"", "--save", yaml_files},
    ValueSource{"", "--svg", svg_files},
    ValueSource{"", "--html", html_files},
    ValueSource{"", "--sharing", words_of_enum<sim::Sharing>},
    ValueSource{"", "--buffering", words_of_enum<sim::Buffering>},
};

}  // namespace

Words values_to_complete(std::string_view command, std::string_view option, const Words& words) {
  const auto source = std::find_if(sources.begin(), sources.end(), [&](const ValueSource& s) {
    return (s.command.empty() || s.command == command) && s.option == option;
  });
  return source == sources.end() ? Words{} : source->values(words);
}

}  // namespace pdsim::tools
