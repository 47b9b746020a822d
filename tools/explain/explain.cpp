// pdsim explain: the long text of a diagnosis or an error code, by its name or by the text of an error; a pitfall of the catalog; the answer
// to a question about a concept; and the picture of an algorithm or of a pipeline schedule.

#include "backends/os/whole_file.h"
#include "core/base/errors.h"
#include "core/base/nearest.h"
#include "core/base/quantity.h"
#include "core/collectives/proof/algorithms_page.h"
#include "core/collectives/proof/plan_picture.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/error_texts.h"
#include "scenarios/diagnosis/explain/outside_causes.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/reports/gallery.h"
#include "scenarios/reports/text/symptom_text.h"
#include "scenarios/text/printable_json.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/explain/explain_concept.h"
#include "tools/explain/explain_flags.h"
#include "tools/explain/explain_pipeline.h"
#include "tools/explain/explained_names.h"
#include "tools/explain/question.h"
#include "tools/flags/trial_flags.h"
#include "tools/shell/likely_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

namespace {

constexpr int ranks_drawn = 1024;  // what the plan checker takes

struct ExplainOptions {
  std::vector<std::string> words;  // as they were typed
  std::string id;
  int ranks = 4;
  int root = 0;
  int nodes = 1;
  std::string bytes = "1KiB";
  std::string svg;
  bool json = false;
};

using ExplainJson = nlohmann::ordered_json;

// An entry: its page, or with --json one object with what `more` adds.
void tell(const ExplainOptions& options, Console& console, std::string_view kind, std::string_view name, const std::string& text,
          const ExplainJson& more = ExplainJson::object()) {
  if (!options.json) return console.print(text);
  ExplainJson json{{"version", scenarios::json_version}, {"kind", kind}, {"name", name}, {"text", text}};
  json.update(more);
  console.print(scenarios::printable_json(json.dump(-1, ' ', false, ExplainJson::error_handler_t::replace)) + "\n");
}

// The names that a row of a table gives, without its empty places.
template <std::size_t size>
std::vector<std::string_view> given(const std::array<std::string_view, size>& names) {
  std::vector<std::string_view> all(names.begin(), names.end());
  std::erase(all, std::string_view());
  return all;
}

// Returns the descriptions in the catalog's files, by name.
std::vector<scenarios::GalleryEntry> gallery() {
  std::vector<scenarios::GalleryEntry> entries;
  for (const std::string& path : catalog_files()) {
    const Result<scenarios::LoadedFile> file = scenarios::load_file(path);
    if (file.ok() && file->errors == 0) entries.push_back(scenarios::gallery_entry(*file));
  }
  return entries;
}

// With the files that show it.
int explain_diagnosis(const ExplainOptions& options, const scenarios::DiagnosisRow& row, Console& console) {
  std::string shown;
  std::vector<std::string> files;
  for (const scenarios::GalleryEntry& e : gallery()) {
    if (std::find(e.diagnoses.begin(), e.diagnoses.end(), row.id) == e.diagnoses.end()) continue;
    shown += fmt::format("  {}: {}\n", e.name, e.pitfall.symptom);
    files.push_back(e.name);
  }
  if (!shown.empty()) shown = "\nrelated pitfalls, by symptom\n" + shown;
  tell(options, console, "diagnosis", row.id, fmt::format("{}: {}\n\n{}\n{}", row.id, row.title, row.text, shown),
       {{"files", files}});
  return exit_held;
}

int explain_symptom(const ExplainOptions& options, const std::string& page, Console& console) {
  ExplainJson matches = ExplainJson::array();
  for (const scenarios::SymptomMatch& match : scenarios::match_symptoms(options.id))
    matches.push_back({{"entry", match.symptom->entry},
                       {"sureness", name_of(match.sureness)},
                       {"cause", match.symptom->cause},
                       {"pattern", match.symptom->text},
                       {"says", match.symptom->says}});
  const std::string name = matches.front()["entry"];
  tell(options, console, "symptom", name, page, {{"matches", matches}});
  return exit_held;
}

// Its page, and before it `above`.
int tell_concept(const ExplainOptions& options, const scenarios::Concept& asked, const std::string& above, Console& console,
                 const ExplainJson& more = ExplainJson::object()) {
  std::string page;
  const int status = explain_concept(asked, page, console);
  if (status != exit_held) return status;
  ExplainJson json{{"wrong", given(asked.wrong)}, {"files", given(asked.files)}, {"see", given(asked.see)}};
  if (const auto kin = scenarios::algorithms_of(asked); !kin.empty()) json["algorithms"] = kin;
  json.update(more);
  tell(options, console, "concept", asked.name, above + page, json);
  return exit_held;
}

// Prints what fits the words of a question: the best concept with its page, and pitfalls.
int explain_answer(const ExplainOptions& options, const Answer& answer, Console& console) {
  std::vector<std::string_view> pitfalls, also;
  for (const scenarios::GalleryEntry* entry : answer.pitfalls) pitfalls.push_back(entry->name);
  const std::string fitting = pitfalls_text(answer);
  if (answer.concepts.empty()) {
    tell(options, console, "pitfall", pitfalls.front(), fitting, {{"near", true}, {"pitfalls", pitfalls}});
    return exit_held;
  }
  for (std::size_t i = 1; i < answer.concepts.size(); ++i) also.push_back(answer.concepts[i]->name);
  std::string above = nearest_text(answer) + "\n";
  if (!fitting.empty()) above += fitting + "\n";
  return tell_concept(options, *answer.concepts.front(), above, console,
                      {{"near", true}, {"also", also}, {"pitfalls", pitfalls}});
}

bool is_sentence(std::string_view id) { return id.find_first_of(" \t\n") != std::string_view::npos; }

std::string unknown(std::string_view id) {
  if (scenarios::is_question(id))
    return fmt::format("no concept matches this question; the nearest names are {} (`pdsim explain {}`). `pdsim list "
                       "--what concepts` shows all; for an error, paste its text without a question around it",
                       fmt::join(scenarios::concepts_near(id, 3), ", "), scenarios::concepts_near(id, 1).front());
  if (is_sentence(id))
    return "no entry matches this text. Try the earliest error of any rank, one line without its stack; `pdsim "
           "diagnose LOG...` reads whole logs, and `pdsim list --what diagnoses` lists all entries";
  if (const std::string better = better_command(std::string(id), "explain"); !better.empty() && std::filesystem::exists(id)) return better;
  const std::vector<std::string> names = explained_names();
  if (const auto close = nearest(id, std::span<const std::string>(names)))
    return fmt::format("unknown name `{}`; did you mean `pdsim explain {}`?", id, *close);
  return fmt::format(
      "unknown name `{}`; `pdsim list --what concepts`, `--what diagnoses`, `--what errors` and `--what algorithms` "
      "show the names",
      id);
}

// Returns the problem with the flags for a picture; empty if there is none.
std::string problem_of(const ExplainOptions& options) {
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes.ok()) return fmt::format("--bytes: {}", bytes.error().message);
  if (bytes->count > Bytes{1 << 20}.count) return "--bytes: pictures show at most 1MiB";
  if (options.root >= options.ranks)
    return fmt::format("--root: rank {} is not one of {} ranks", options.root, options.ranks);
  if (options.ranks % options.nodes != 0)
    return fmt::format("--nodes: {} ranks do not spread evenly over {} nodes", options.ranks, options.nodes);
  return {};
}

// `proof`: of a plan's file, what is said below the picture.
int draw(const ExplainOptions& options, const std::vector<const Algorithm*>& found, Console& console,
         const std::string* proof = nullptr, bool is_proven = false) {
  if (const std::string problem = problem_of(options); !problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  const Algorithm& row = *found.front();
  PlanCase at;
  at.size = options.ranks;
  at.count = pdsim::row(row.kind).has_input ? parse_bytes(options.bytes)->count : 0;
  at.root = pdsim::row(row.kind).rooted ? options.root : 0;
  at.ranks_per_node = options.nodes > 1 ? options.ranks / options.nodes : 1;
  std::string page = draw_plan(row, at);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < found.size(); ++i) others.push_back(qualified(*found[i]));
  if (!others.empty()) page += fmt::format("\nthe same name elsewhere: {}\n", fmt::join(others, ", "));
  if (const scenarios::Concept* idea = scenarios::concept_asked_for(options.id))
    page += fmt::format("\nwhat it is, and algorithms of its kind: pdsim explain {}\n", idea->name);
  if (proof != nullptr)
    tell(options, console, "plan", options.id, page + *proof, {{"proven", is_proven}});
  else
    tell(options, console, "algorithm", qualified(row), page);
  if (options.svg.empty()) return exit_held;
  const Status written = write_whole_file(options.svg, draw_plan_svg(row, at));
  if (written.ok()) return exit_held;
  console.problem(written.error().message);
  return status_of(written.error());
}

// The picture of a plan's file, and whether it is proven for as many ranks.
int draw_file(const ExplainOptions& options, Console& console) {
  if (const std::string better = better_command_than_a_plan(options.id); !better.empty()) {
    console.problem(better);
    return exit_wrong_input;
  }
  const scenarios::LoadedPlan loaded = scenarios::load_plan(options.id);
  if (loaded.plan == nullptr) {
    console.problem(loaded.problem, {options.id, loaded.diagnostic});
    return exit_wrong_input;
  }
  const Algorithm& row = loaded.plan->algorithm();
  ProofOptions proof_options;
  proof_options.min_size = proof_options.max_size = std::min(options.ranks, 128);
  proof_options.every_root = false;
  proof_options.ranks_per_node = 1;
  const PlanProof proof = prove(row, proof_options);
  if (proof.ok && proof.cases == 0) {
    console.problem(
        fmt::format("{}: its `needs` excludes {} ranks; choose others with --ranks", options.id, options.ranks));
    return exit_wrong_input;
  }
  const std::string verdict = proof.ok ? fmt::format("\nproven for {} ranks; `pdsim prove {}` tries every number of "
                                                     "ranks\n",
                                                     proof_options.max_size, options.id)
                                       : "\n" + loaded.plan->refusal(proof);
  const int status = draw(options, {&row}, console, &verdict, proof.ok);
  if (status != exit_held) return status;
  return proof.ok ? exit_held : exit_did_not_hold;
}

// What is neither in a table of diagnoses, errors and algorithms nor a file: pitfalls, concepts and texts.
int explain_in_words(const ExplainOptions& options, Console& console) {
  const std::string& id = options.id;
  const std::vector<scenarios::GalleryEntry> pitfalls = gallery();
  if (id == "pitfalls") {
    tell(options, console, "page", id, scenarios::gallery_page(pitfalls));
    return exit_held;
  }
  const auto entry = std::find_if(pitfalls.begin(), pitfalls.end(), [&](const auto& e) { return e.name == id; });
  if (const scenarios::Concept* asked = scenarios::concept_asked_for(id)) {
    const int status = tell_concept(options, *asked, {}, console);
    if (status != exit_held || entry == pitfalls.end()) return status;
    if (!options.json) console.print("\n");
  }
  if (entry != pitfalls.end()) {
    tell(options, console, "pitfall", entry->name, scenarios::gallery_text(*entry));
    return exit_held;
  }
  const std::vector<scenarios::SymptomMatch> symptoms = scenarios::match_symptoms(id);
  const bool is_known_text = !symptoms.empty() && symptoms.front().sureness != scenarios::Sureness::near;
  if (!is_known_text && is_in_own_words(id))
    if (const Answer answer = answer_to(id, pitfalls); !answer.empty())
      return explain_answer(options, answer, console);
  if (!symptoms.empty()) return explain_symptom(options, scenarios::symptom_page(id), console);
  console.problem(unknown(id));
  return exit_wrong_input;
}

int explain(ExplainOptions& options, const PipelineFlags& pipeline, const CLI::App& app, Console& console) {
  std::string& id = options.id;
  id = fmt::format("{}", fmt::join(options.words, " "));  // a question needs no quotes
  if (scenarios::concept_asked_for(id) == nullptr)
    if (std::string name = name_asked_for(id); !name.empty()) id = std::move(name);
  if (const std::string problem = misplaced_flag(app, id); !problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  if (is_pipeline(id)) {
    std::string page;
    const int status = explain_pipeline(id, pipeline, options.svg, page, console);
    if (!page.empty()) tell(options, console, "pipeline", id, page);
    return status;
  }
  if (const scenarios::DiagnosisRow* row = scenarios::diagnosis_named(id))
    return explain_diagnosis(options, *row, console);
  if (const scenarios::OutsideCause* cause = scenarios::outside_cause_named(id)) {
    tell(options, console, "cause", cause->name, fmt::format("{}: {}\n\n{}\n", cause->name, cause->title, cause->text));
    return exit_held;
  }
  if (const std::optional<Code> code = code_named(id)) {
    const ErrorRow& row = error_table[static_cast<std::size_t>(*code)];
    tell(options, console, "error", row.name,
         fmt::format("{}: {}\n\n{}\n", row.name, row.sentence, scenarios::text_of_error(*code)));
    return exit_held;
  }
  if (id == "algorithms") {
    tell(options, console, "page", id, algorithms_page());
    return exit_held;
  }
  if (scenarios::names_plan_file(id)) return draw_file(options, console);
  if (const auto found = algorithms_named(id); !found.empty()) return draw(options, found, console);
  return explain_in_words(options, console);
}

}  // namespace

Action declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  app.add_option("ID", options->words,
                 "a question such as \"what is a bucket?\", or the concept alone; the text of an error, in quotes; a "
                 "diagnosis or error code, as reports print it; a scenario of the catalog; an algorithm, such as ring "
                 "or all_reduce/ring; your own plan, as FILE.plan; a pipeline schedule, such as 1f1b, or a .csv file "
                 "with one; algorithms, for the table in docs/algorithms.md; or pitfalls, for that in docs/pitfalls.md")
      ->required()
      ->expected(1, -1);
  app.add_option("--ranks", options->ranks, "of an algorithm's picture")
      ->check(CLI::Range(1, ranks_drawn))
      ->capture_default_str();
  app.add_option("--bytes", options->bytes, "of each rank, or of the root")->capture_default_str();
  app.add_option("--root", options->root, "of a broadcast, reduce, gather or scatter")
      ->check(CLI::Range(0, ranks_drawn - 1))
      ->capture_default_str();
  app.add_option("--nodes", options->nodes, "over which the ranks are spread evenly")
      ->check(CLI::Range(1, ranks_drawn))
      ->capture_default_str();
  app.add_flag("--json", options->json, "one JSON object for each entry");
  app.add_option("--svg", options->svg, "a file for the picture")->check(place_problem);
  const auto pipeline = std::make_shared<PipelineFlags>();
  add_pipeline_flags(app, pipeline);
  return [options, pipeline, &app](Console& console) { return explain(*options, *pipeline, app, console); };
}

}  // namespace pdsim::tools
