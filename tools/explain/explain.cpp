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
#include "scenarios/plans/own_plan.h"
#include "scenarios/reports/gallery.h"
#include "scenarios/reports/text/symptom_text.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/explain/explain_concept.h"
#include "tools/explain/explain_pipeline.h"
#include "tools/explain/explained_names.h"
#include "tools/explain/named_algorithms.h"
#include "tools/flags/trial_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
  std::string id;
  int ranks = 4;
  int root = 0;
  int nodes = 1;
  std::string bytes = "1KiB";
  std::string svg;
};

// What the files of the catalog say of themselves, by name.
std::vector<scenarios::GalleryEntry> gallery() {
  std::vector<scenarios::GalleryEntry> entries;
  for (const std::string& path : catalog_files()) {
    const Result<scenarios::LoadedFile> file = scenarios::load_file(path);
    if (file.ok() && file->errors == 0) entries.push_back(scenarios::gallery_entry(*file));
  }
  return entries;
}

// The files that show a diagnosis; empty when there are none.
std::string shown_by(std::string_view diagnosis) {
  std::string text;
  for (const scenarios::GalleryEntry& e : gallery())
    if (std::find(e.diagnoses.begin(), e.diagnoses.end(), diagnosis) != e.diagnoses.end())
      text += fmt::format("  {}: {}\n", e.name, e.pitfall.symptom);
  return text.empty() ? text : "\nrelated pitfalls, by symptom\n" + text;
}

bool is_sentence(std::string_view id) { return id.find_first_of(" \t\n") != std::string_view::npos; }

std::string unknown(std::string_view id) {
  if (is_sentence(id))
    return "no entry fits this text. Try the first error by time of any rank, one line without its stack; `pdsim "
           "diagnose LOG...` reads whole "
           "logs, and `pdsim list --what diagnoses` shows what is known";
  const std::vector<std::string> names = explained_names();
  if (const auto close = nearest(id, std::span<const std::string>(names)))
    return fmt::format("unknown name `{}`; did you mean `pdsim explain {}`?", id, *close);
  return fmt::format(
      "unknown name `{}`; `pdsim list --what concepts`, `--what diagnoses`, `--what errors` and `--what algorithms` "
      "show the names",
      id);
}

// What is wrong with the flags for a picture; empty when nothing is.
std::string problem_of(const ExplainOptions& options) {
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes.ok()) return fmt::format("--bytes: {}", bytes.error().message);
  if (bytes->count > Bytes{1 << 20}.count) return "--bytes: pictures are of 1MiB at most";
  if (options.root >= options.ranks)
    return fmt::format("--root: rank {} is not one of {} ranks", options.root, options.ranks);
  if (options.ranks % options.nodes != 0)
    return fmt::format("--nodes: {} ranks do not spread evenly over {} nodes", options.ranks, options.nodes);
  return {};
}

int draw(const ExplainOptions& options, const std::vector<const Algorithm*>& found, Console& console) {
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
  console.print(draw_plan(row, at));
  std::vector<std::string> others;
  for (std::size_t i = 1; i < found.size(); ++i) others.push_back(qualified(*found[i]));
  if (!others.empty()) console.print(fmt::format("\nthe same name elsewhere: {}\n", fmt::join(others, ", ")));
  if (options.svg.empty()) return exit_held;
  const Status written = write_whole_file(options.svg, draw_plan_svg(row, at));
  if (written.ok()) return exit_held;
  console.problem(written.error().message);
  return status_of(written.error());
}

// The picture of a plan's file, and whether it is proven for as many ranks.
int draw_file(const ExplainOptions& options, Console& console) {
  const scenarios::LoadedPlan loaded = scenarios::load_plan(options.id);
  if (loaded.plan == nullptr) {
    console.say(loaded.problem);
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
        fmt::format("{}: its `needs` leaves out {} ranks; --ranks chooses others", options.id, options.ranks));
    return exit_wrong_input;
  }
  const int status = draw(options, {&row}, console);
  if (status != exit_held) return status;
  console.print(proof.ok ? fmt::format("\nproven for {} ranks; `pdsim prove {}` tries every number of them\n",
                                       proof_options.max_size, options.id)
                         : "\n" + loaded.plan->refusal(proof));
  return proof.ok ? exit_held : exit_did_not_hold;
}

}  // namespace

Action declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  app.add_option("ID", options->id,
                 "a question, as \"what is a bucket?\", or the concept alone; the text of an error, in quotes; a "
                 "diagnosis or an error code, "
                 "as reports print it; a scenario of the catalog; an algorithm, as ring or all_reduce/ring; a plan of "
                 "your own, as FILE.plan; a pipeline schedule, as 1f1b, or a "
                 ".csv file with one; algorithms, for the table of docs/algorithms.md; or pitfalls, for that of "
                 "docs/pitfalls.md")
      ->required();
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
  app.add_option("--svg", options->svg, "a file for the picture")->check(place_problem);
  const auto pipeline = std::make_shared<PipelineFlags>();
  add_pipeline_flags(app, pipeline);
  return [options, pipeline](Console& console) -> int {
    const std::string& id = options->id;
    if (const auto status = explain_pipeline(id, *pipeline, options->svg, console)) return *status;
    if (const scenarios::DiagnosisRow* row = scenarios::diagnosis_named(id)) {
      console.print(fmt::format("{}: {}\n\n{}\n{}", row->id, row->title, row->text, shown_by(id)));
      return exit_held;
    }
    if (const std::optional<Code> code = code_named(id)) {
      const ErrorRow& row = error_table[static_cast<std::size_t>(*code)];
      console.print(fmt::format("{}: {}\n\n{}\n", row.name, row.sentence, scenarios::text_of_error(*code)));
      return exit_held;
    }
    if (id == "algorithms") {
      console.print(algorithms_page());
      return exit_held;
    }
    if (scenarios::names_plan_file(id)) return draw_file(*options, console);
    if (const auto found = algorithms_named(id); !found.empty()) return draw(*options, found, console);
    const std::vector<scenarios::GalleryEntry> pitfalls = gallery();
    if (id == "pitfalls") {
      console.print(scenarios::gallery_page(pitfalls));
      return exit_held;
    }
    const auto entry = std::find_if(pitfalls.begin(), pitfalls.end(), [&](const auto& e) { return e.name == id; });
    const scenarios::Concept* asked = scenarios::concept_asked_for(id);
    if (asked != nullptr)
      if (const int status = explain_concept(*asked, console); status != exit_held || entry == pitfalls.end())
        return status;
    if (entry != pitfalls.end()) {
      console.print((asked != nullptr ? "\n" : "") + scenarios::gallery_text(*entry));
      return exit_held;
    }
    if (const std::string page = scenarios::symptom_page(id); !page.empty()) {
      console.print(page);
      return exit_held;
    }
    console.problem(unknown(id));
    return exit_wrong_input;
  };
}

}  // namespace pdsim::tools
