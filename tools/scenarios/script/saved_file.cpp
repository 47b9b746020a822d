#include "tools/scenarios/script/saved_file.h"

#include "backends/os/whole_file.h"
#include "scenarios/guests/saved/saved_scenario.h"
#include "scenarios/language/loader.h"
#include "scenarios/records/log_view.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/script/world_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

// Lines of the script's files, which are read once.
class Sources {
 public:
  std::string line(const std::string& path, int number) {
    const auto [found, is_new] = files_.try_emplace(path);
    if (is_new) {
      std::ifstream file(path);
      for (std::string line; found->second.size() < most_lines && std::getline(file, line);)
        found->second.push_back(std::move(line));
    }
    const auto index = static_cast<std::size_t>(number) - 1;
    if (number < 1 || index >= found->second.size()) return {};
    const std::string& text = found->second[index];
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first);
  }

 private:
  static constexpr std::size_t most_lines = 100'000;
  std::map<std::string, std::vector<std::string>> files_;
};

// GPUs of a node, where the ranks use some.
int devices_of(const scenarios::guests::GuestRun& run, const scenarios::Report& report) {
  int devices = 0;
  for (const RankResult& rank : report.run.ranks) {
    if (scenarios::has_note<notes::DeviceUsed>(rank.log)) devices = std::max(devices, run.world.ranks_per_node);
    for (const Note* note : scenarios::notes_of<notes::DeviceUsed>(rank.log))
      devices = std::max(devices, note->as<notes::DeviceUsed>().device + 1);
  }
  return devices;
}

std::string expectation_of(const scenarios::Report& report) {
  std::string text = fmt::format("{{outcome: {}", name_of(report.outcome));
  if (report.diagnosis() != nullptr) text += ", diagnosis: " + report.diagnosis()->id;
  return text + "}";
}

std::string outcome_text(const scenarios::Report& report) {
  std::string text(name_of(report.outcome));
  if (report.diagnosis() != nullptr) text += fmt::format(" [{}]", report.diagnosis()->id);
  return text;
}

// The calls that ranks end in and the errors that they raised: equal in two runs that show the same problem.
std::set<std::pair<Rank, std::string>> where_ranks_end(const scenarios::Report& report) {
  std::set<std::pair<Rank, std::string>> ends;
  for (const scenarios::BlockedRank& blocked : report.blocked) ends.emplace(blocked.rank, blocked.in);
  for (const scenarios::RankError& error : report.errors) ends.emplace(error.rank, "raised");
  return ends;
}

bool shows_the_same(const scenarios::Report& one, const scenarios::Report& other) {
  const scenarios::Diagnosis *of_one = one.diagnosis(), *of_other = other.diagnosis();
  const bool one_kind = of_one != nullptr && of_other != nullptr && of_one->id == of_other->id;
  const auto holds = [](const std::vector<Rank>& all, const std::vector<Rank>& some) {
    return std::all_of(some.begin(), some.end(),
                       [&](Rank rank) { return std::find(all.begin(), all.end(), rank) != all.end(); });
  };
  const bool same_ranks =
      !one_kind || holds(of_one->ranks, of_other->ranks) || holds(of_other->ranks, of_one->ranks);
  return one.outcome == other.outcome && (of_one == nullptr) == (of_other == nullptr) &&
         where_ranks_end(one) == where_ranks_end(other) && same_ranks;
}

// As the simulated world runs it. The problem, where it is not a scenario.
Result<std::string> expectation_by_running(const scenarios::LoadedFile& file, const RunFlags& flags, std::string& shows,
                                           const scenarios::Report& script) {
  if (file.variants.empty())
    return Error{Code::input_invalid,
                 file.diagnostics.empty() ? "it is not a scenario" : file.diagnostics.front().what + "; " + file.diagnostics.front().label,
                 {}};
  std::string ignored;
  scenarios::RunOptions how;
  how.strategy = flags.strategy;
  const Result<scenarios::Report> report = scenarios::run_scenario(file.variants.front(), *scenarios::world_named("sim", ignored), how);
  if (!report.ok()) return report.error();
  shows = shows_the_same(script, *report) ? fmt::format("reproduces the run without the script: {}", outcome_text(*report))
               : fmt::format("does not reproduce the run: {} with the script, {} without", outcome_text(script),
                             outcome_text(*report));
  return expectation_of(*report);
}

}  // namespace

std::string save_problem(const std::string& path) {
  if (path.empty()) return {};
  std::string problem = scenarios::guests::saved_name_problem(path);
  if (problem.empty()) problem = place_problem(path);
  return problem.empty() ? problem : "--save " + problem;
}

std::string save_calls(const RunFlags& flags, const scenarios::guests::GuestRun& run, const scenarios::Report& report,
                       int& status) {
  const std::string name = std::filesystem::path(flags.save).stem().string();
  const int devices = devices_of(run, report);
  WorldSections sections = world_sections(flags, {run.world.ranks(), run.world.backend, run.world.profile, run.timeout, devices});
  Sources sources;
  const auto source = [&](const std::string& path, int line) { return sources.line(path, line); };
  const scenarios::guests::SavedWorld world{sections.text, report.scenario->name, flags.seed};
  const auto saved = [&](const std::string& expect) {
    return scenarios::guests::saved_scenario(report.run, world, name, expect, source);
  };
  scenarios::guests::SavedScenario file = saved("{outcome: ok}");
  std::string shows;
  const Result<std::string> expect =
      expectation_by_running(scenarios::load_text(flags.save, file.text), flags, shows, report);
  if (!expect.ok()) {
    status = std::max<int>(status, exit_failed);
    return fmt::format("--save {}: the calls cannot be written as a scenario: {}\n", flags.save, expect.error().message);
  }
  file = saved(*expect);
  if (const Status written = write_whole_file(flags.save, file.text); !written.ok()) {
    status = std::max<int>(status, status_of(written.error()));
    return fmt::format("--save: {}\n", written.error().message);
  }
  std::string text = fmt::format("saved    {}, which {}\n", flags.save, shows);
  std::vector<std::string> left_out = std::move(file.left_out);
  left_out.insert(left_out.end(), sections.left_out.begin(), sections.left_out.end());
  if (!left_out.empty())
    text += fmt::format("         {} of it could not be written, and the file says so: {}\n",
                        left_out.size() == 1 ? "one part" : fmt::format("{} parts", left_out.size()), left_out.front());
  return text;
}

}  // namespace pdsim::tools
