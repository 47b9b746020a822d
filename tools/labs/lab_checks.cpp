#include "tools/labs/lab_checks.h"

#include "core/collectives/proof/plan_picture.h"
#include "core/collectives/proof/plan_proof.h"
#include "scenarios/language/changed_part.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/reports/text/text_timeline.h"
#include "scenarios/text/shell_word.h"
#include "tools/labs/lab_answers.h"
#include "tools/labs/lab_crashes.h"
#include "tools/labs/lab_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The command of a question, in which {} stands for the student's folder.
std::string shown_by(std::string command, const fs::path& folder) {
  if (const std::size_t at = command.find("{}"); at != std::string::npos) command.replace(at, 2, scenarios::shell_word(folder.string()));
  return command;
}

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

void add_score(LabResult& result, const std::string& score, double yours, double par) {
  result.score = score;
  result.beats_par = yours < par;
  result.on_par = yours <= par;
}

PlanCase case_of(const Json& limit, const Algorithm& row) {
  PlanCase at;
  at.size = limit.value("ranks", 8);
  at.count = pdsim::row(row.kind).has_input ? limit.value("count", std::int64_t{1024}) : 0;
  return at;
}

Status check_plan_file(const Json& check, const LabPlace& place, LabResult& result) {
  const LabWords& words = place.words;
  const std::string file = (place.folder / check.value("file", "")).string();
  const scenarios::LoadedPlan loaded = scenarios::load_plan(file, scenarios::PlanFiles::texts);
  if (loaded.plan == nullptr)
    return result.problems.push_back({loaded.problem, fmt::format("pdsim prove {}", scenarios::shell_word(file))}), Status();
  const Algorithm& row = loaded.plan->algorithm();
  if (name_of(row.kind) != check.value("collective", ""))
    return result.problems.push_back({said(words.other_collective, file, name_of(row.kind), check.value("collective", "")),
                                      fmt::format("pdsim prove {}", scenarios::shell_word(file))}),
           Status();
  ProofOptions options;
  options.max_size = check.value("ranks", 17);
  options.ranks_per_node = 1;
  const PlanProof proof = prove(row, options);
  if (!proof.ok) {
    result.problems.push_back({loaded.plan->refusal(proof), loaded.plan->replay(proof)});
    return {};
  }
  for (int p = 1; p <= options.max_size; ++p)
    if (!loaded.plan->is_for({0, p, pdsim::row(row.kind).has_input ? p : 0, 0}))
      return result.problems.push_back(
                 {said(words.left_out_ranks, p, options.max_size),
                  fmt::format("pdsim prove {} --ranks {}..{}", scenarios::shell_word(file), p, p)}),
             Status();
  for (const Json& limit : check.value("limits", Json::array())) {
    const PlanCase at = case_of(limit, row);
    const PlanTrace trace = trace_plan(row, at);
    for (const Measure& m : measures)
      if (limit.contains(m.name) && m.of(trace) > limit[m.name].get<std::int64_t>())
        return result.problems.push_back(
                   {said(words.too_many, m.of(trace), m.name, at.size, limit[m.name].get<std::int64_t>()) +
                        draw_rounds(row, at),
                    fmt::format("pdsim explain {} --ranks {}", scenarios::shell_word(file), at.size)}),
               Status();
  }
  const Json par = check.value("par", Json::object());
  for (const Measure& m : measures) {
    if (!par.contains(m.name)) continue;
    const PlanCase at = case_of(par, row);
    const std::int64_t yours = m.of(trace_plan(row, at)), best = par[m.name].get<std::int64_t>();
    add_score(result, said(words.par, said(words.measure_with_ranks, m.name, at.size), yours, best),
              static_cast<double>(yours), static_cast<double>(best));
  }
  return {};
}

std::string restored_by(const LabPlace& place) { return said(place.words.restore, place.restore); }

// The first part of a file of the lab that the student changed and should not have; empty: none.
std::string forbidden_change(const LabPlace& place, const std::string& name, const scenarios::LoadedFile& file,
                             std::vector<std::string> free) {
  const Result<scenarios::LoadedFile> start = scenarios::load_file((place.start / name).string());
  if (!start.ok()) return start.error().message + "\n";
  const std::string allowed = fmt::format("{}", fmt::join(free, ", "));
  for (const char* always : {"name", "summary", "expect"}) free.emplace_back(always);
  const auto change = scenarios::first_change(file.text, start->text, free);
  if (!change) return "";
  const LabWords& words = place.words;
  const char* what = change->is_gone ? words.part_is_gone : change->is_new ? words.part_is_new : words.part_differs;
  std::string label = change->is_new ? "" : said(words.write_back, change->original);
  if (label.empty() && !allowed.empty()) label = said(words.may_change, allowed);
  return render(file, {false, said(what, change->path), change->mark, label, "lab"}) + restored_by(place);
}

// Sizes are right in any unit.
bool is_right(const std::string& answer, const std::string& truth) {
  if (compared(answer) == compared(truth)) return true;
  const Result<Bytes> bytes = parse_bytes(answer);
  return bytes.ok() && std::to_string(bytes->count) == truth;
}

Status check_answers(const Json& check, const LabPlace& place, LabResult& result) {
  const LabWords& words = place.words;
  const fs::path file = place.folder / check.value("file", "answers.txt");
  const Json questions = check.value("questions", Json::array());
  std::vector<std::string> keys;
  for (const Json& question : questions) keys.push_back(question.value("key", ""));
  const LabAnswers answers = read_answers(file, keys, words);
  if (!answers.problems.empty())
    result.problems.push_back({answers.problems + (answers.given.empty() ? restored_by(place) : ""), place.restore});
  std::string wrong, replay;
  int right = 0;
  for (const Json& question : questions) {
    const std::string key = question.value("key", "");
    if (question.contains("file")) {
      const std::string job = question.value("file", "");
      const Result<scenarios::LoadedFile> loaded = scenarios::load_file((place.folder / job).string());
      if (const std::string changed = loaded.ok() ? forbidden_change(place, job, *loaded, {}) : ""; !changed.empty())
        result.problems.push_back({changed, place.restore});
    }
    const Result<std::string> truth = fact_of(question.dump(), place.start);
    if (!truth.ok()) return truth.error();
    const auto given = answers.given.find(key);
    const bool answered = given != answers.given.end() && !compared(given->second).empty() && given->second != "?";
    if (answered && is_right(given->second, *truth)) {
      ++right;
      continue;
    }
    wrong += answered ? said(words.not_right, key, given->second) : said(words.no_answer, key);
    if (answered && replay.empty() && question.contains("file"))
      replay = fmt::format("pdsim scenario {}", scenarios::shell_word((place.folder / question.value("file", "")).string()));
    if (answered && replay.empty() && question.contains("see"))
      replay = shown_by(question.value("see", ""), place.folder);
  }
  if (right < static_cast<int>(keys.size()))
    result.problems.push_back({said(words.right_of, right, keys.size(), file.string()) + wrong, replay});
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
std::int64_t calls_of(const RankLog& log, const Json& which) {
  const std::string name = which.value("name", ""), group = which.value("group", "");
  const std::int64_t count = which.value("count", std::int64_t{-1});
  const auto in = [&](Layer layer) {
    return std::count_if(log.calls.begin(), log.calls.end(), [&](const Call& c) {
      return c.name == name && c.layer == layer && (group.empty() || c.group == group) && (count < 0 || c.count == count);
    });
  };
  return std::max(in(Layer::program), in(Layer::collective));
}

std::string times(std::int64_t number, const LabWords& words) {
  return number == 1 ? words.once : said(words.times, number);
}

// "all_reduce of 64 elements in group row"
std::string called(const Json& which) {
  std::string text = which.value("name", "");
  if (which.contains("count")) text += fmt::format(" {{count: {}, group: {}}}", which["count"].dump(), which.value("group", "world"));
  return text;
}

// A call of the lab's program that a run lacks; empty: none.
std::string lacking_call(const Json& calls, const RunRecord& run, const LabWords& words) {
  for (const Json& which : calls) {
    const std::int64_t least = which.value("times", std::int64_t{1});
    std::int64_t all = 0;
    for (const RankResult& rank : run.ranks) {
      const std::int64_t own = calls_of(rank.log, which);
      all += own;
      if (!which.value("in_all", false) && own < least)
        return said(words.too_few_calls, rank.log.rank, called(which), times(own, words), times(least, words));
    }
    if (all < least) return said(words.too_few_in_all, called(which), times(all, words), times(least, words));
  }
  return "";
}

// Looks for a moment at which the job dies and finds no checkpoint; empty: there is always one, once there was one.
Result<std::string> crash_problem(const LabRun& run, const std::string& strategy, const LabWords& words) {
  const Result<CrashTrials> trials = crash_everywhere(*run.scenario, strategy, run.report.run);
  if (!trials.ok()) return trials.error();
  if (!trials->any) return std::string(words.no_checkpoint);
  if (!trials->lost) return std::string();
  return said(words.lost_checkpoint, to_string(trials->lost->at), trials->lost->files,
              fmt::format("faults: [{{crash: {{}}, at: {{time: {}ns}}}}]", trials->lost->at.ns())) +
         timeline(run.report);
}

// Returns the problem with a run of the student's scenario, which `replay` shows again; empty if there is none.
Result<std::string> problem_of(const Json& check, const LabRun& run, const std::string& strategy,
                               const std::string& replay, const LabWords& words) {
  const scenarios::Report& report = run.report;
  scenarios::TextOptions options;
  options.replay = replay;
  options.source = run.file->text;
  if (report.outcome != scenarios::Outcome::ok || !report.findings.empty()) return render_diagnosis(report, options);
  const std::string lacking = lacking_call(check.value("calls", Json::array()), report.run, words);
  if (!lacking.empty()) return lacking;
  return check.value("survives", false) ? crash_problem(run, strategy, words) : std::string();
}

Status check_scenario(const Json& check, const LabPlace& place, LabResult& result) {
  const LabWords& words = place.words;
  const std::string name = check.value("file", ""), path = (place.folder / name).string();
  Result<scenarios::LoadedFile> loaded = scenarios::load_file(path);
  if (!loaded.ok())
    return result.problems.push_back({loaded.error().message + "\n" + restored_by(place), place.restore}), Status();
  auto file = std::make_shared<scenarios::LoadedFile>(std::move(*loaded));
  if (file->errors > 0) {
    std::string text;
    for (const scenarios::Diagnostic& one : file->diagnostics) text += render(*file, one);
    return result.problems.push_back({text, fmt::format("pdsim check {}", scenarios::shell_word(path))}), Status();
  }
  const std::string changed =
      forbidden_change(place, name, *file, check.value("may_change", std::vector<std::string>()));
  if (!changed.empty()) return result.problems.push_back({changed, place.restore}), Status();
  Time slowest{};
  for (const Json& at : check.value("cases", Json::array({Json::object()}))) {
    scenarios::Scenario scenario = file->variants.front();
    apply(at, scenario);
    const std::string strategy = at.value("strategy", "fifo");
    const Result<LabRun> run = run_lab(file, scenario, strategy);
    if (!run.ok()) return result.problems.push_back({run.error().message + "\n", {}}), Status();
    const std::string replay = fmt::format("pdsim scenario {} --seed {} --strategy {}", scenarios::shell_word(path), scenario.seed, strategy);
    const Result<std::string> problem = problem_of(check, *run, strategy, replay, words);
    if (!problem.ok()) return problem.error();
    if (!problem->empty()) {
      const std::string hidden = at.contains("slow") || at.contains("takes") ? said(words.with, at.dump()) : "";
      return result.problems.push_back({hidden + *problem, replay}), Status();
    }
    slowest = std::max(slowest, run->report.run.elapsed);
  }
  const auto time_at = [&check](const char* key) { return parse_time(check.value(key, "0ms")).value(); };
  if (check.contains("time") && slowest > time_at("time"))
    result.problems.push_back(
        {said(words.too_slow, to_string(slowest), check.value("time", "")),
         fmt::format("pdsim scenario {}", scenarios::shell_word(path))});
  if (check.contains("par"))
    add_score(result, said(words.par, words.time_of_run, to_string(slowest), to_string(time_at("par"))),
              static_cast<double>(slowest.ps), static_cast<double>(time_at("par").ps));
  return {};
}

Result<Json> rows_of(const std::string& checks, const char* key) {
  const Json json = Json::parse(checks, nullptr, false);
  if (!json.is_object()) return Error{Code::input_invalid, "lab.json is not an object", {}};
  return json.value(key, Json::array());
}

}  // namespace

Result<LabResult> check_lab(const std::string& checks, const LabPlace& place) {
  const Result<Json> rows = rows_of(checks, "checks");
  if (!rows.ok()) return rows.error();
  LabResult result;
  for (const Json& check : *rows) {
    const std::string kind = check.value("kind", "");
    if (kind == "plan")
      PDSIM_TRY(check_plan_file(check, place, result));
    else if (kind == "answers")
      PDSIM_TRY(check_answers(check, place, result));
    else if (kind == "scenario")
      PDSIM_TRY(check_scenario(check, place, result));
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
