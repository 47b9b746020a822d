#include "scenarios/guests/saved/saved_scenario.h"

#include "core/base/printable.h"
#include "scenarios/guests/saved/merged_program.h"
#include "scenarios/guests/saved/program_text.h"
#include "scenarios/guests/saved/shadowed_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

// Ranks that end where their process did, at their last operation.
std::string faults_text(const std::vector<RankOperations>& ranks) {
  std::string text;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].stop != SavedStop::none)
      text += fmt::format("  - {}: {{}}\n    match: {{rank: {}}}\n    at: {{step: 0, before: raise}}\n",
                          ranks[r].stop == SavedStop::crash ? "crash" : "hang", r);
  return text;
}

constexpr std::string_view earlier_run_text =
    "  - init_process_group: {method: file, path: store}  # the run before this one, which has left its file\n"
    "  - relaunch: {clean: false}\n";

}  // namespace

SavedScenario saved_scenario(const RunRecord& run, const SavedWorld& world, std::string_view name,
                             std::string_view expect, const SourceLine& source) {
  const GroupNames groups(run);
  std::vector<RankOperations> ranks;
  SavedScenario saved;
  for (const RankResult& rank : run.ranks) {
    ranks.push_back(operations_of(rank.log, groups, source));
    const std::vector<std::string>& missing = ranks.back().left_out;
    saved.left_out.insert(saved.left_out.end(), missing.begin(), missing.end());
    if (rank.log.dropped > 0)
      saved.left_out.push_back(
          fmt::format("rank {}: the first {} calls and notes, which the record did not keep", rank.log.rank, rank.log.dropped));
  }
  follow_shadowed(ranks);
  const std::string script = printable(world.script);
  saved.text = fmt::format("# What the {} ranks of {} called, saved by pdsim run. Comments name the lines of the script.\n",
                           run.ranks.size(), script);
  for (const std::string& line : saved.left_out) saved.text += fmt::format("# not written: {}\n", line);
  constexpr std::size_t most_name = 60;
  saved.text += fmt::format("pdsim: 1\nname: {}\nsummary: \"The calls of the ranks of {}.\"\nseed: {}\n\n", name,
                            script.substr(0, most_name), world.seed);
  saved.text += world.world;
  const std::string faults = faults_text(ranks);
  const bool has_faults = world.world.find("\nfaults:\n") != std::string::npos;
  if (!faults.empty()) saved.text += (has_faults ? "" : "faults:\n") + faults;
  const std::string program = program_text(merged(ranks), static_cast<int>(ranks.size()));
  const std::string_view earlier = run.earlier.empty() ? "" : earlier_run_text;
  saved.text += fmt::format("\nprogram:\n{}{}", earlier, program) + fmt::format("\nexpect: {}\n", expect);
  return saved;
}

std::string saved_name_problem(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string stem = file.stem().string();
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool fits = !stem.empty() && is_letter(stem.front()) &&
                    std::all_of(stem.begin(), stem.end(), [&](char c) { return is_letter(c) || is_digit(c); });
  if (!fits || file.extension() != ".yaml")
    return fmt::format("{}: a scenario's file name has only letters, digits and underscores, such as mine.yaml", path);
  return {};
}

}  // namespace pdsim::scenarios::guests
