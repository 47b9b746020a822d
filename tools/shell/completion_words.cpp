#include "tools/shell/completion_words.h"

#include "core/base/types.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/semantics/libraries.h"
#include "scenarios/worlds/worlds.h"
#include "sim/run.h"
#include "tools/explain/explained_names.h"
#include "tools/labs/lab_book.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace pdsim::tools {
namespace {

using Words = std::vector<std::string>;

template <class Rows>
Words names_of_rows(const Rows& rows) {
  Words names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

Words world_names() { return names_of_rows(scenarios::worlds()); }
Words collective_names() { return names_of_rows(collective_table); }
Words algorithm_names() { return names_of_rows(algorithms()); }
Words dtype_names() { return names_of_rows(dtypes); }
Words engine_names() { return names_of_rows(sim::engines); }
Words backend_names() { return {library_names.begin(), library_names.end()}; }
Words real_library_words() { return {real_library_names.begin(), real_library_names.end()}; }
Words languages() { return {"en", "zh"}; }
Words shell_names() { return {"bash", "fish", "zsh"}; }
Words script_worlds() { return {"sim", "real"}; }
Words strategies() { return {"fifo", "random"}; }
Words compute_modes() { return {"none", "measured"}; }

template <NamedEnum E>
Words words_of_enum() {
  return {enum_words<E>.begin(), enum_words<E>.end()};
}

// Where the values of an option or of a positional come from. An empty command: every other one that has the option.
struct ValueSource {
  std::string_view command;
  std::string_view option;  // empty: the positional
  Words (*values)();
};
constexpr std::array sources{
    ValueSource{"scenario", "", catalog_names}, ValueSource{"check", "", catalog_names},
    ValueSource{"buckets", "", catalog_names},  ValueSource{"explain", "", explained_names},
    ValueSource{"gallery", "", catalog_names}, ValueSource{"lab", "", lab_numbers},
    ValueSource{"lab", "--lang", languages},
    ValueSource{"completion", "", shell_names}, ValueSource{"list", "--what", listed_kinds},
    ValueSource{"run", "--on", script_worlds},
    ValueSource{"launch", "--on", real_library_words}, ValueSource{"run", "--compute", compute_modes},
    ValueSource{"", "--on", world_names},       ValueSource{"", "--collective", collective_names},
    ValueSource{"", "--algorithm", algorithm_names}, ValueSource{"", "--dtype", dtype_names},
    ValueSource{"", "--engine", engine_names},  ValueSource{"", "--backend", backend_names},
    ValueSource{"", "--strategy", strategies},  ValueSource{"", "--sharing", words_of_enum<sim::Sharing>},
    ValueSource{"", "--buffering", words_of_enum<sim::Buffering>},
};

Words values_of(std::string_view command, std::string_view option) {
  const auto* source = std::find_if(sources.begin(), sources.end(), [&](const ValueSource& s) {
    return (s.command.empty() || s.command == command) && s.option == option;
  });
  return source == sources.end() ? Words{} : source->values();
}

Words commands_of(const CLI::App& root) {
  Words names;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    names.push_back(sub->get_name());
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::App& app, const std::string& word) {
  if (!word.starts_with("-")) return false;
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

Words all_words(const CLI::App& root, const Words& words) {
  Words commands = commands_of(root);
  const bool helps = words.size() == 2 && words.front() == "help";
  if (words.size() <= 1) commands.emplace_back("help");
  if (words.size() <= 1 || helps) return commands;
  const CLI::App* sub = nullptr;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; }))
    if (app->get_name() == words.front()) sub = app;
  if (sub == nullptr) return {};
  const std::string& before = words[words.size() - 2];
  if (words.size() > 2 && takes_value(*sub, before)) return values_of(sub->get_name(), before);
  if (words.back().starts_with("-")) return options_of(*sub);
  return values_of(sub->get_name(), "");
}

}  // namespace

std::vector<std::string> words_to_complete(const CLI::App& root, const std::vector<std::string>& words) {
  Words found = all_words(root, words);
  const std::string typed = words.empty() ? "" : words.back();
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(typed); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace pdsim::tools
