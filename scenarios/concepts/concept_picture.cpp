#include "scenarios/concepts/concept_picture.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/proof/plan_picture.h"
#include "core/group/init_process_group.h"
#include "core/pipeline/families.h"
#include "core/pipeline/picture.h"
#include "scenarios/language/loader.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/reports/text/text_timeline.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/text/text_layout.h"
#include "scenarios/worlds/worlds.h"
#include "sim/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim::scenarios {
namespace {

constexpr Time picture_time{1'000'000'000};  // of each action of a schedule, 1 ms: the picture shows proportions

Collective example_of(CollectiveKind kind, Rank rank, std::vector<float>& input, std::vector<float>& output) {
  Collective call;
  call.kind = kind;
  call.root = row(kind).rooted ? 1 : 0;
  call.count = row(kind).in_parts ? 1 : 2;
  const auto inputs = input_elements(call, rank, ranks_of_pictures);
  for (std::int64_t i = 0; i < inputs; ++i) input.push_back(static_cast<float>(10 * rank + i));
  output.resize(static_cast<std::size_t>(output_elements(call, rank, ranks_of_pictures)));
  call.input = view_of(std::as_const(input));
  call.output = view_of(output);
  return call;
}

ProgramResult call_once(RankEnvironment& env, CollectiveKind kind) {
  auto group = init_process_group(env);
  if (!group.ok()) return {group.error()};
  std::vector<float> input, output;
  const Status status = wait(group->start(example_of(kind, env.rank, input, output), {}));
  return {status, {{"before", {input.begin(), input.end()}}, {"after", {output.begin(), output.end()}}}};
}

std::string numbers(const std::vector<double>& values) {
  return values.empty() ? "-" : fmt::format("{}", fmt::join(values, " "));
}

std::string shown_call(CollectiveKind kind) {
  const CollectiveRow& shape = row(kind);
  std::string text(shape.name);
  if (shape.reduces) text += " with op sum";
  if (shape.rooted) text += shape.shape.input.holders == Holders::root ? " from src 1" : " to dst 1";
  return fmt::format("{}, {} ranks, run with small whole numbers (- : nothing passed or received)\n", text,
                     ranks_of_pictures);
}

Result<std::string> draw_rounds_of(const ConceptPicture& picture) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm& a) {
    return a.kind == picture.collective && a.name == picture.name;
  });
  if (found == all.end())
    return Error{Code::internal, fmt::format("unknown algorithm `{}` in a picture", picture.name), {}};
  PlanCase at;
  at.size = ranks_of_pictures;
  at.count = 1024;
  return fmt::format("{} by {}, {} ranks, 1KiB\n{}", row(picture.collective).name, picture.name, ranks_of_pictures,
                     draw_rounds(*found, at));
}

Result<std::string> draw_schedule(const ConceptPicture& picture) {
  const PipelineFamily* family = pipeline_family_named(picture.name);
  if (family == nullptr) return Error{Code::internal, fmt::format("unknown schedule `{}` in a picture", picture.name), {}};
  const Result<PipelineSchedule> schedule = make_pipeline(*family, {ranks_of_pictures, ranks_of_pictures, 1});
  if (!schedule.ok()) return schedule.error();
  const Result<PipelineTiming> timing = time_pipeline(*schedule, PipelineCosts{{{picture_time, picture_time, picture_time}}});
  if (!timing.ok()) return timing.error();
  return fmt::format("{}, {} stages, {} micro-batches: {:.1f} % of the time is bubble\n{}", picture.name,
                     ranks_of_pictures, ranks_of_pictures, 100 * timing->bubble_rate(),
                     draw_pipeline(*schedule, *timing));
}

Result<std::string> draw_run(const ConceptPicture& picture, const std::string& path) {
  const Result<LoadedFile> file = load_file(path);
  if (!file.ok()) return file.error();
  const auto found = std::find_if(file->variants.begin(), file->variants.end(),
                                  [&](const Scenario& s) { return s.variant == picture.variant; });
  if (found == file->variants.end())
    return Error{Code::internal, fmt::format("{} has no variant `{}`", path, picture.variant), {}};
  std::string problem;
  const Result<Report> report = run_scenario(*found, *world_named("sim", problem), RunOptions{});
  if (!report.ok()) return report.error();
  const std::string waits = waits_section(*report);
  return fmt::format("{}: {} ({})\n{}{}{}", picture.name, outcome_sentence(*report), picture.variant, waits,
                     waits.empty() || waits.ends_with("\n\n") ? "" : "\n", timeline(*report));
}

}  // namespace

Result<std::string> draw_values(CollectiveKind kind) {
  sim::WorldSpec world;
  world.ranks_per_node = ranks_of_pictures;
  world.backend = "ideal";
  const Result<RunRecord> run = sim::run(world, {}, [kind](RankEnvironment& env) { return call_once(env, kind); });
  if (!run.ok()) return run.error();
  std::vector<std::vector<std::string>> rows{{"", "before", "after"}};
  for (std::size_t rank = 0; rank < run->ranks.size(); ++rank) {
    const TensorValues& values = run->ranks[rank].values;
    if (!values.contains("after")) return Error{Code::internal, "the call of the picture failed", {}};
    rows.push_back({fmt::format("rank {}", rank), numbers(values.at("before")), numbers(values.at("after"))});
  }
  return shown_call(kind) + table(rows);
}

Result<std::string> draw_concept(const ConceptPicture& picture, const std::string& file) {
  switch (picture.kind) {
    case ConceptPicture::Kind::none:
      return std::string();
    case ConceptPicture::Kind::values:
      return draw_values(picture.collective);
    case ConceptPicture::Kind::plan:
      return draw_rounds_of(picture);
    case ConceptPicture::Kind::schedule:
      return draw_schedule(picture);
    case ConceptPicture::Kind::run:
      return draw_run(picture, file);
  }
  return std::string();
}

}  // namespace pdsim::scenarios
