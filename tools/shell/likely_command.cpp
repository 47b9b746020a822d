#include "tools/shell/likely_command.h"

#include "core/collectives/collective.h"
#include "tools/catalog.h"

#include <fmt/format.h>

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
  std::string_view ending, before;
};
constexpr std::array endings{
    Ending{".py", "pdsim run -n 2 -- python3 "}, Ending{".yaml", "pdsim scenario "}, Ending{".yml", "pdsim scenario "},
    Ending{".plan", "pdsim prove "},             Ending{".log", "pdsim diagnose "},  Ending{".jsonl", "pdsim diagnose "},
    Ending{".txt", "pdsim diagnose "},           Ending{".pkl", "pdsim diagnose "},
};

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

}  // namespace

std::string likely_command(const std::string& word) {
  if (const std::string bench = as_nccl_test(word); !bench.empty()) return bench;
  if (word.find(' ') != std::string::npos) return fmt::format("pdsim explain \"{}\"", word);
  for (const Ending& row : endings)
    if (word.ends_with(row.ending)) return fmt::format("{}{}", row.before, word);
  std::error_code error;
  if (fs::exists(word, error)) return fmt::format("pdsim diagnose {}", word);
  return is_in_catalog(word) ? fmt::format("pdsim scenario {}", word) : std::string();
}

}  // namespace pdsim::tools
