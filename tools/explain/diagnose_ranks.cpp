#include "tools/explain/diagnose_ranks.h"

#include "core/base/int_set.h"
#include "scenarios/guests/run.h"
#include "scenarios/guests/script_terms.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "tools/scenarios/script/saved_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace pdsim::tools {
namespace {

std::int64_t now_since_1970_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Which ranks each machine had; empty: there is one.
std::string hosts_text(const std::vector<std::string>& hosts) {
  std::map<std::string, std::vector<Rank>> ranks;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    if (!hosts[r].empty()) ranks[hosts[r]].push_back(static_cast<Rank>(r));
  if (ranks.size() < 2) return {};
  std::string text = "machines\n";
  for (const auto& [host, of_host] : ranks) text += fmt::format("  {}  {}\n", host, ranks_text(of_host));
  return text + "\n";
}

std::string text_of_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

int diagnose_rank_records(const std::vector<std::string>& records, const std::string& name, const std::string& save,
                          JobOutput& output, Console& console) {
  using namespace scenarios::guests;
  Result<RecordedRun> recorded = recorded_run_at(records, now_since_1970_ns());
  if (!recorded.ok()) {
    console.problem(fmt::format("{}: {}", name, recorded.error().message));
    return exit_wrong_input;
  }
  for (const std::string& remark : recorded->remarks) console.problem(remark);
  const LeftOut& left_out = recorded->saved.left_out;
  for (const std::string& what : left_out.named()) console.problem(what + "; left out");
  int status = left_out.empty() ? exit_held : exit_wrong_input;
  const std::string hosts = hosts_text(recorded->hosts);
  GuestRun run = run_of_record(std::move(*recorded), {});
  scenarios::Scenario scenario;
  scenario.name = name;
  scenario.world.spec = run.world;
  scenarios::Report report =
      scenarios::analyse(scenario, std::move(run.record), scenarios::RunWorld(run.library));
  scenarios::TextOptions text;
  name_descriptions(report, run.described_otherwise);
  if (const std::string file = speak_of_script(report); !file.empty()) {
    scenario.file = file;
    text.source = text_of_script(file);
  }
  std::string told = hosts + scenarios::render_diagnosis(report, text);
  if (!save.empty()) {
    RunFlags flags;
    flags.save = save;
    const std::string saved = save_calls(flags, run, report, status);
    if (output.json())
      console.say(saved);
    else
      told += saved;
  }
  return std::max(status, output.show(report, told, console));
}

}  // namespace pdsim::tools
