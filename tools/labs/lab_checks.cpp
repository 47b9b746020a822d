#include "tools/labs/lab_checks.h"

#include "core/collectives/proof/plan_picture.h"
#include "core/collectives/proof/plan_proof.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/reports/text/text_timeline.h"
#include "tools/labs/lab_crashes.h"
#include "tools/labs/lab_facts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Measure {
  const char* name;
  std::int64_t (*of)(const PlanTrace&);
};
// Rounds are those of the picture: how many messages stand one behind the other, and not how many a rank takes part in.
constexpr std::array measures{Measure{"rounds",
                                      [](const PlanTrace& t) {
                                        return t.messages.empty() ? std::int64_t{0}
                                                                  : std::int64_t{t.messages.back().wave} + 1;
                                      }},
                              Measure{"messages", [](const PlanTrace& t) { return t.counted.messages; }},
                              Measure{"sends", [](const PlanTrace& t) { return t.counted.elements_sent; }}};

void add_score(LabResult& result, const std::string& what, double yours, double par, const std::string& shown,
               const std::string& shown_par) {
  result.score = fmt::format("{}: {}, par {}", what, shown, shown_par);
  result.beats_par = yours < par;
  result.on_par = yours <= par;
}

PlanCase case_of(const Json& limit, const Algorithm& row) {
  PlanCase at;
  at.size = limit.value("ranks", 8);
  at.count = pdsim::row(row.kind).has_input ? limit.value("count", std::int64_t{1024}) : 0;
  return at;
}

Status check_plan_file(const Json& check, const fs::path& folder, LabResult& result) {
  const std::string file = (folder / check.value("file", "")).string();
  const scenarios::LoadedPlan loaded = scenarios::load_plan(file, scenarios::PlanFiles::texts);
  if (loaded.plan == nullptr)
    return result.problems.push_back({loaded.problem, fmt::format("pdsim prove {}", file)}), Status();
  const Algorithm& row = loaded.plan->algorithm();
  if (name_of(row.kind) != check.value("collective", ""))
    return result.problems.push_back({fmt::format("{} is a plan for {}; the lab asks for {}\n", file, name_of(row.kind),
                                                  check.value("collective", "")),
                                      {}}),
           Status();
  ProofOptions options;
  options.max_size = check.value("ranks", 17);
  options.ranks_per_node = 1;
  const PlanProof proof = prove(row, options);
  if (!proof.ok) {
    result.problems.push_back({loaded.plan->refusal(proof), {}});  // ends with its own replay line
    return {};
  }
  for (int p = 1; p <= options.max_size; ++p)
    if (!loaded.plan->is_for({0, p, pdsim::row(row.kind).has_input ? p : 0, 0}))
      return result.problems.push_back(
                 {fmt::format("its `needs` leaves out {} ranks; the lab asks for every number up to {}\n", p,
                              options.max_size),
                  fmt::format("pdsim prove {} --ranks {}..{}", file, p, p)}),
             Status();
  for (const Json& limit : check.value("limits", Json::array())) {
    const PlanCase at = case_of(limit, row);
    const PlanTrace trace = trace_plan(row, at);
    for (const Measure& m : measures)
      if (limit.contains(m.name) && m.of(trace) > limit[m.name].get<std::int64_t>())
        return result.problems.push_back(
                   {fmt::format("{} {} with {} ranks, and {} are enough\n\n{}", m.of(trace), m.name, at.size,
                                limit[m.name].get<std::int64_t>(), draw_rounds(row, at)),
                    fmt::format("pdsim explain {} --ranks {}", file, at.size)}),
               Status();
  }
  const Json par = check.value("par", Json::object());
  for (const Measure& m : measures) {
    if (!par.contains(m.name)) continue;
    const PlanCase at = case_of(par, row);
    const std::int64_t yours = m.of(trace_plan(row, at)), best = par[m.name].get<std::int64_t>();
    add_score(result, fmt::format("{} with {} ranks", m.name, at.size), static_cast<double>(yours),
              static_cast<double>(best), std::to_string(yours), std::to_string(best));
  }
  return {};
}

// "key: answer" lines; `#` begins a comment. Answers as they were typed, without the blanks around them.
std::map<std::string, std::string> answers_in(const fs::path& file) {
  std::map<std::string, std::string> answers;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1), end = line.find_last_not_of(" \t\r");
    answers[compared(line.substr(0, colon))] = begin == std::string::npos ? std::string() : line.substr(begin, end + 1 - begin);
  }
  return answers;
}

Status check_answers(const Json& check, const fs::path& folder, LabResult& result) {
  const fs::path file = folder / check.value("file", "answers.txt");
  const std::map<std::string, std::string> answers = answers_in(file);
  std::string wrong, replay;
  int right = 0, asked = 0;
  for (const Json& question : check.value("questions", Json::array())) {
    const std::string key = question.value("key", "");
    const Result<std::string> truth = fact_of(question.dump(), folder);
    if (!truth.ok()) return truth.error();
    ++asked;
    const auto given = answers.find(key);
    const bool answered = given != answers.end() && !compared(given->second).empty() && given->second != "?";
    if (answered && compared(given->second) == compared(*truth)) {
      ++right;
      continue;
    }
    wrong += answered ? fmt::format("  {}: `{}` is not right\n", key, given->second)
                      : fmt::format("  {}: no answer yet\n", key);
    if (answered && replay.empty() && question.contains("file"))
      replay = fmt::format("pdsim scenario {}", (folder / question.value("file", "")).string());
    if (answered && replay.empty() && question.contains("see")) replay = question.value("see", "");
  }
  if (right < asked)
    result.problems.push_back(
        {fmt::format("{} of {} answers in {} are right\n{}", right, asked, file.string(), wrong), replay});
  return {};
}

// Applies the changes of a case of lab.json to the student's scenario.
void apply(const Json& at, scenarios::Scenario& scenario) {
  if (at.contains("seed")) scenario.seed = at["seed"].get<std::uint64_t>();
  if (at.contains("slow")) {
    sim::Speed speed;
    speed.rank = IntSet::of({at["slow"].value("rank", 0)});
    speed.work = at["slow"].value("work", 2.0);
    scenario.world.spec.speeds.push_back(speed);
  }
  if (!at.contains("takes")) return;
  const Time takes = parse_time(at.value("takes", "0ms")).value();
  for (scenarios::Operation& op : scenario.program)
    if (const auto* saves = op.if_is<scenarios::CheckpointOptions>()) {
      scenarios::CheckpointOptions slower = *saves;
      slower.takes = takes;
      op.options = slower;
    }
}

// By the program, or by what the program runs: a collective of the program is in the record as both.
std::int64_t calls_of(const RankLog& log, const std::string& name) {
  const auto in = [&](Layer layer) {
    return std::count_if(log.calls.begin(), log.calls.end(),
                         [&](const Call& c) { return c.name == name && c.layer == layer; });
  };
  return std::max(in(Layer::program), in(Layer::collective));
}

// Looks for a moment at which the job dies and finds no checkpoint; empty: there is always one, once there was one.
Result<std::string> crash_problem(const LabRun& run, const std::string& strategy) {
  const Result<CrashTrials> trials = crash_everywhere(*run.scenario, strategy, run.report.run);
  if (!trials.ok()) return trials.error();
  if (!trials->any) return std::string("no checkpoint is ever complete\n");
  if (!trials->lost) return std::string();
  return fmt::format(
      "after a crash of the whole job at {} there is no complete checkpoint: {}\nadd it to the file: `faults: "
      "[{{crash: {{}}, at: {{time: {}ns}}}}]`\n\n{}",
      to_string(trials->lost->at), trials->lost->files, trials->lost->at.ns(), timeline(run.report));
}

// Returns the problem with a run of the student's scenario, which `replay` shows again; empty if there is none.
Result<std::string> problem_of(const Json& check, const LabRun& run, const std::string& strategy, const std::string& replay) {
  const scenarios::Report& report = run.report;
  scenarios::TextOptions options;
  options.replay = replay;
  options.source = run.file->text;
  if (report.outcome != scenarios::Outcome::ok || !report.findings.empty()) return render_diagnosis(report, options);
  const Json calls = check.value("calls", Json::object());
  for (const auto& [name, least] : calls.items())
    for (const RankResult& rank : report.run.ranks)
      if (calls_of(rank.log, name) < least.get<std::int64_t>())
        return fmt::format("rank {} calls {} {} times; the lab's program has {} calls of it\n", rank.log.rank, name,
                           calls_of(rank.log, name), least.get<std::int64_t>());
  return check.value("survives", false) ? crash_problem(run, strategy) : std::string();
}

Status check_scenario(const Json& check, const fs::path& folder, LabResult& result) {
  const std::string path = (folder / check.value("file", "")).string();
  Result<scenarios::LoadedFile> loaded = scenarios::load_file(path);
  if (!loaded.ok()) return result.problems.push_back({loaded.error().message + "\n", {}}), Status();
  auto file = std::make_shared<scenarios::LoadedFile>(std::move(*loaded));
  if (file->errors > 0) {
    std::string text;
    for (const scenarios::Diagnostic& one : file->diagnostics) text += render(*file, one);
    return result.problems.push_back({text, fmt::format("pdsim check {}", path)}), Status();
  }
  Time slowest{};
  for (const Json& at : check.value("cases", Json::array({Json::object()}))) {
    scenarios::Scenario scenario = file->variants.front();
    apply(at, scenario);
    const std::string strategy = at.value("strategy", "fifo");
    const Result<LabRun> run = run_lab(file, scenario, strategy);
    if (!run.ok()) return result.problems.push_back({run.error().message + "\n", {}}), Status();
    const std::string replay = fmt::format("pdsim scenario {} --seed {} --strategy {}", path, scenario.seed, strategy);
    const Result<std::string> problem = problem_of(check, *run, strategy, replay);
    if (!problem.ok()) return problem.error();
    if (!problem->empty()) {
      const std::string hidden = at.contains("slow") || at.contains("takes") ? fmt::format("with {}\n", at.dump()) : "";
      return result.problems.push_back({hidden + *problem, replay}), Status();
    }
    slowest = std::max(slowest, run->report.run.elapsed);
  }
  const auto time_at = [&check](const char* key) { return parse_time(check.value(key, "0ms")).value(); };
  if (check.contains("time") && slowest > time_at("time"))
    result.problems.push_back(
        {fmt::format("the run takes {}, and {} are enough\n", to_string(slowest), check.value("time", "")),
         fmt::format("pdsim scenario {}", path)});
  if (check.contains("par"))
    add_score(result, "time of the run", static_cast<double>(slowest.ps), static_cast<double>(time_at("par").ps),
              to_string(slowest), to_string(time_at("par")));
  return {};
}

Result<Json> rows_of(const std::string& checks, const char* key) {
  const Json json = Json::parse(checks, nullptr, false);
  if (!json.is_object()) return Error{Code::input_invalid, "lab.json is not an object", {}};
  return json.value(key, Json::array());
}

}  // namespace

Result<LabResult> check_lab(const std::string& checks, const fs::path& folder) {
  const Result<Json> rows = rows_of(checks, "checks");
  if (!rows.ok()) return rows.error();
  LabResult result;
  for (const Json& check : *rows) {
    const std::string kind = check.value("kind", "");
    if (kind == "plan")
      PDSIM_TRY(check_plan_file(check, folder, result));
    else if (kind == "answers")
      PDSIM_TRY(check_answers(check, folder, result));
    else if (kind == "scenario")
      PDSIM_TRY(check_scenario(check, folder, result));
    else
      return Error{Code::input_invalid, fmt::format("lab.json: unknown kind of check `{}`", kind), {}};
  }
  return result;
}

Result<std::vector<LabPicture>> pictures_of(const std::string& checks) {
  const Result<Json> rows = rows_of(checks, "pictures");
  if (!rows.ok()) return rows.error();
  std::vector<LabPicture> pictures;
  for (const Json& row : *rows) {
    const Result<LabRun> run = run_hidden(row.value("of", ""), row.value("hash", ""));
    if (!run.ok()) return run.error();
    std::string text = timeline(run->report);
    if (run->report.divergence) {
      text += "\nwhere the ranks first differ\n";
      for (const scenarios::Divergence::Entry& entry : run->report.divergence->entries)
        text += fmt::format("  rank {}: {}\n", entry.rank, entry.call);
    }
    pictures.push_back({row.value("file", "picture.txt"), text});
  }
  return pictures;
}

}  // namespace pdsim::tools
