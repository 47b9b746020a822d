#include "tools/shell/completion_words.h"

#include "tools/shell/completion_values.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace pdsim::tools {
namespace {

using Words = std::vector<std::string>;

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

// The option that a word is, if a value must follow it.
const CLI::Option* option_with_value(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = word.starts_with("-") ? app.get_option_no_throw(word) : nullptr;
  return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : "--" + option.get_lnames().front();
}

// A command line whose last word is the one that is completed. `--on=g` is one word to zsh and fish, and `--on`, `=`, `g` to bash.
struct Typed {
  Words words;
  std::string prefix;     // of every answer: "--on="
  bool is_value = false;  // of the option before
};

Typed typed_of(Words words) {
  const std::size_t count = words.size();
  const auto is_option = [&](std::size_t from_last) { return count >= from_last && words[count - from_last].starts_with("--"); };
  if (is_option(2) && words.back() == "=") {
    words.back().clear();
    return {std::move(words), "", true};
  }
  if (is_option(3) && words[count - 2] == "=") {
    words.erase(words.end() - 2);
    return {std::move(words), "", true};
  }
  const std::size_t end = is_option(1) ? words.back().find('=') : std::string::npos;
  if (end == std::string::npos) return {std::move(words), "", false};
  const std::string word = words.back();
  words.back() = word.substr(0, end);
  words.push_back(word.substr(end + 1));
  return {std::move(words), word.substr(0, end + 1), true};
}

Words all_words(const CLI::App& root, const Words& words, bool is_value) {
  Words commands = commands_of(root);
  const bool helps = words.size() == 2 && words.front() == "help";
  if (words.size() <= 1) commands.emplace_back("help");
  if (words.size() <= 1 || helps) return commands;
  const CLI::App* sub = nullptr;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; }))
    if (app->get_name() == words.front()) sub = app;
  const bool is_programs = std::find(words.begin(), words.end() - 1, "--") != words.end() - 1;  // behind --
  if (sub == nullptr || is_programs) return {};
  const CLI::Option* before = words.size() > 2 ? option_with_value(*sub, words[words.size() - 2]) : nullptr;
  if (before != nullptr) return values_to_complete(sub->get_name(), long_name(*before), words);
  if (is_value) return {};
  if (words.back().starts_with("-")) return options_of(*sub);
  return values_to_complete(sub->get_name(), "", words);
}

}  // namespace

std::vector<std::string> words_to_complete(const CLI::App& root, const std::vector<std::string>& words) {
  const Typed typed = typed_of(words);
  Words found = all_words(root, typed.words, typed.is_value);
  const std::string begin = typed.words.empty() ? "" : typed.words.back();
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(begin); });
  for (std::string& word : found) word.insert(0, typed.prefix);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace pdsim::tools
