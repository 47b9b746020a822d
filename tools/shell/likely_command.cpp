#include "tools/shell/likely_command.h"

#include "core/base/nearest.h"
#include "core/collectives/collective.h"
#include "scenarios/concepts/concepts.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/text/shell_word.h"
#include "tools/catalog.h"
#include "tools/explain/explained_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

struct Ending {
  std::string_view ending, before, is;
};
constexpr std::array endings{
    Ending{".py", "pdsim run -n 2 -- python3 ", "a script"},
    Ending{".yaml", "pdsim scenario ", "a scenario file"},
    Ending{".yml", "pdsim scenario ", "a scenario file"},
    Ending{".plan", "pdsim prove ", "a plan"},
    Ending{".log", "pdsim diagnose ", "a log"},
    Ending{".jsonl", "pdsim diagnose ", "a record"},
    Ending{".txt", "pdsim diagnose ", "a log"},
    Ending{".pkl", "pdsim diagnose ", "a dump"},
};

const Ending* ending_of(const std::string& word) {
  const auto row = std::find_if(endings.begin(), endings.end(), [&](const Ending& e) { return word.ends_with(e.ending); });
  return row == endings.end() ? nullptr : &*row;
}

// all_reduce_perf, ./build/alltoall_perf; empty for another word.
std::string as_nccl_test(const std::string& word) {
  constexpr std::string_view ending = "_perf";
  std::string name = fs::path(word).filename().string();
  if (!name.ends_with(ending)) return {};
  name.resize(name.size() - ending.size());
  if (name == "alltoall") name = "all_to_all";
  return collective_named(name) == nullptr ? std::string() : fmt::format("pdsim bench --collective {}", name);
}

bool is_in_catalog(const std::string& word) {
  const std::vector<std::string> files = catalog_files();
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) { return fs::path(file).stem() == word; });
}

bool is_explained(const std::string& word) {
  if (scenarios::concept_asked_for(word) != nullptr) return true;
  const std::vector<std::string> names = explained_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Commands that begin with the word, or the one that differs in few letters.
std::vector<std::string> close_commands(const std::string& word, std::span<const std::string_view> commands) {
  std::vector<std::string> close;
  for (const std::string_view name : commands)
    if (word.size() > 1 && name.starts_with(word)) close.push_back(fmt::format("`pdsim {}`", name));
  if (const auto name = nearest(word, commands); name && close.empty()) close.push_back(fmt::format("`pdsim {}`", *name));
  return close;
}

}  // namespace

std::string likely_command(const std::string& word) {
  if (const std::string bench = as_nccl_test(word); !bench.empty()) return bench;
  std::error_code error;
  const bool exists = fs::exists(word, error);
  if (!exists && word.find(' ') != std::string::npos) return fmt::format("pdsim explain \"{}\"", word);
  if (const Ending* row = ending_of(word)) return fmt::format("{}{}", row->before, scenarios::shell_word(word));
  if (exists) return fmt::format("pdsim diagnose {}", scenarios::shell_word(word));
  return is_in_catalog(word) ? fmt::format("pdsim scenario {}", word) : std::string();
}

std::string better_command(const std::string& word, std::string_view command) {
  const std::string likely = likely_command(word);
  if (likely.empty() || likely.starts_with(fmt::format("pdsim {} ", command))) return {};
  std::error_code error;
  const Ending* row = ending_of(word);
  if (row != nullptr && !fs::exists(word, error)) return {};
  const std::string_view is = likely.starts_with("pdsim bench ")  ? "a program of nccl-tests"
                              : row != nullptr                    ? row->is
                              : fs::is_directory(word, error)     ? "a folder"
                              : fs::exists(word, error)           ? "a file"
                              : likely.starts_with("pdsim explain ") ? "a text"
                                                                  : "a scenario of the catalog";
  return fmt::format("`{}` is {}; use `{}`", word, is, likely);
}

std::string better_command_than_a_plan(const std::string& path) {
  std::error_code error;
  const bool may_be_plan = scenarios::is_plan_program(path) || ending_of(path) == nullptr || !fs::exists(path, error);
  return may_be_plan ? std::string() : better_command(path, "prove");
}

std::string unknown_command(const std::vector<std::string>& words, std::span<const std::string_view> commands) {
  const std::string& word = words.front();
  if (word.starts_with("-"))
    return fmt::format("unknown option `{}`; a command comes first: pdsim COMMAND [OPTION]... [ARGUMENT]...", word);
  if (word == "help") return "`pdsim help` takes one command";
  const std::string unknown = fmt::format("unknown command `{}`", word);
  if (const std::string likely = likely_command(word); !likely.empty())
    return fmt::format("{}; did you mean `{}`?", unknown, likely);
  std::vector<std::string> meant = word == "version" ? std::vector<std::string>{"`pdsim --version`"} : close_commands(word, commands);
  if (is_explained(word)) meant.push_back(fmt::format("`pdsim explain {}`", word));
  if (!meant.empty()) return fmt::format("{}; did you mean {}?", unknown, fmt::join(meant, " or "));
  const bool is_text = words.size() > 1 && std::none_of(words.begin(), words.end(), [](const auto& w) { return w.starts_with("-"); });
  if (is_text) return fmt::format("{}; did you mean `pdsim explain \"{}\"`?", unknown, fmt::join(words, " "));
  return fmt::format("{}; a question or the text of an error goes to `pdsim explain TEXT`, and the commands are {}", unknown,
                     fmt::join(commands, ", "));
}

}  // namespace pdsim::tools
