#include "tools/explain/explain_pipeline.h"

#include "backends/os/whole_file.h"
#include "core/pipeline/check.h"
#include "core/pipeline/families.h"
#include "core/pipeline/picture.h"
#include "core/pipeline/program.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pdsim::tools {

namespace {

constexpr int most_stages = 1024, most_microbatches = 100'000;

// Returns nothing after an error, which has been printed.
std::optional<PipelineCosts> costs_of(const PipelineFlags& flags, Console& console) {
  std::array<Time, 4> times;
  const std::array<std::pair<std::string_view, const std::string*>, 4> given{
      {{"--forward", &flags.forward},
       {"--input-backward", &flags.input_backward},
       {"--weight-backward", &flags.weight_backward},
       {"--message", &flags.message}}};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Result<Time> time = parse_time(*given[i].second);
    if (!time.ok()) {
      console.problem(fmt::format("{}: {}", given[i].first, time.error().message));
      return std::nullopt;
    }
    times[i] = *time;
  }
  return PipelineCosts{{{times[0], times[1], times[2]}}, times[3]};
}

int number_of(const Error& error, std::string_view name) {
  const std::string_view digits = fact(error.facts, name);
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<PipelineSchedule> read_csv(const std::string& path, Console& console) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    console.problem(fmt::format("cannot read {}", path));
    return std::nullopt;
  }
  Result<PipelineSchedule> schedule = pipeline_from_csv(text.str(), std::filesystem::path(path).filename().string());
  if (!schedule.ok()) {
    const Error& error = schedule.error();
    const scenarios::Mark at{number_of(error, "line"), number_of(error, "column"), 1};
    console.problem(path, text.str(), {false, error.message, at, {}, "pipeline"});
    return std::nullopt;
  }
  const PipelineCheck check = check_pipeline(*schedule);
  for (const PipelineProblem& problem : check.problems)
    console.problem(fmt::format("{}: {}", path, to_string(problem)));
  if (!check.ok()) return std::nullopt;
  return std::move(*schedule);
}

std::optional<PipelineSchedule> made(const PipelineFamily& family, const PipelineFlags& flags, int microbatches,
                                     Console& console) {
  if (flags.stages % flags.stages_per_rank != 0) {
    console.problem(fmt::format("--stages-per-rank: {} stages do not spread evenly, {} on each rank", flags.stages,
                                flags.stages_per_rank));
    return std::nullopt;
  }
  Result<PipelineSchedule> schedule =
      make_pipeline(family, {flags.stages / flags.stages_per_rank, microbatches, flags.stages_per_rank});
  if (schedule.ok()) return std::move(*schedule);
  console.problem(schedule.error().message);
  return std::nullopt;
}

// One line for each way of sending, and where it can deadlock.
std::string sends_text(const PipelineSchedule& schedule) {
  std::string text;
  for (const auto sends : {PipelineSends::isend, PipelineSends::batch, PipelineSends::send}) {
    const PipelineProgram program = lower_pipeline(schedule, sends);
    std::string line = "never deadlocks";
    for (const auto buffering :
         {PipelineBuffering::unbounded, PipelineBuffering::none, PipelineBuffering::pair_streams}) {
      const std::vector<PipelineStuck> stuck = find_stuck(program, buffering);
      if (stuck.empty()) continue;
      line = fmt::format("deadlocks with {}", name_of(buffering));
      const std::vector<PipelineStuck> circle = circle_of(stuck);
      for (std::size_t i = 0; i < std::min<std::size_t>(circle.size(), 3); ++i)
        line += fmt::format("{} {}", i == 0 ? ":" : ";", to_string(circle[i]));
      if (circle.size() > 3) line += fmt::format("; and {} more ranks", circle.size() - 3);
      break;
    }
    text += fmt::format("{:<13} {:<6} {}\n", sends == PipelineSends::isend ? "messages" : "", name_of(sends), line);
  }
  return text;
}

std::string kept_text(const std::vector<int>& kept) {
  constexpr std::size_t listed = 16;
  if (kept.size() <= listed) return fmt::format("{}", fmt::join(kept, ", "));
  return fmt::format("{}, ... {} on the last of {}",
                     fmt::join(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(listed), ", "), kept.back(),
                     kept.size());
}

std::string whole_page(const PipelineSchedule& schedule, const PipelineTiming& timing, std::string_view help) {
  std::string text =
      fmt::format("{}{}{}\n{} stages on {} ranks, {} micro-batches\n\n", schedule.name, help.empty() ? "" : ": ", help,
                  schedule.stages, schedule.ranks(), schedule.microbatches);
  text += fmt::format("time          {}, of which {:.2f} % are bubble\n", to_string(timing.cost),
                      100 * timing.bubble_rate());
  text += fmt::format("activations   of {} micro-batches at most, by rank\n",
                      kept_text(check_pipeline(schedule).kept_by_rank));
  text += sends_text(schedule);
  return text + "\n" + draw_pipeline(schedule, timing) +
         "\nF a forward, B a backward, or its two parts: I for the input and W for the weights; the number is the "
         "micro-batch's\n";
}

int sweep_microbatches(const PipelineFamily& family, const PipelineFlags& flags, const PipelineCosts& costs,
                       std::string& page, Console& console) {
  std::string text =
      fmt::format("{}: {}\n\nmicro-batches  bubble    time        activations\n", family.name, family.help);
  for (const int microbatches : flags.microbatches) {
    const auto schedule = made(family, flags, microbatches, console);
    if (!schedule) return exit_wrong_input;
    const Result<PipelineTiming> timing = time_pipeline(*schedule, costs);
    if (!timing.ok()) {
      console.problem(timing.error().message);
      return exit_wrong_input;
    }
    const std::vector<int> kept = check_pipeline(*schedule).kept_by_rank;
    text += fmt::format("{:>13}  {:>6.2f} %  {:<10}  {}\n", microbatches, 100 * timing->bubble_rate(),
                        to_string(timing->cost), *std::max_element(kept.begin(), kept.end()));
  }
  page = text;
  return exit_held;
}

}  // namespace

void add_pipeline_flags(CLI::App& app, const std::shared_ptr<PipelineFlags>& flags) {
  constexpr auto group = "Of a pipeline schedule";
  app.add_option("--stages", flags->stages, "of the model")
      ->check(CLI::Range(1, most_stages))
      ->capture_default_str()
      ->group(group);
  app.add_option("--stages-per-rank", flags->stages_per_rank, "for interleaved_1f1b")
      ->check(CLI::Range(1, most_stages))
      ->capture_default_str()
      ->group(group);
  app.add_option("--microbatches", flags->microbatches,
                 "of a step; several, as 4,8,16, give a table of the bubble against their number")
      ->delimiter(',')
      ->check(CLI::Range(1, most_microbatches))
      ->capture_default_str()
      ->group(group);
  app.add_option("--forward", flags->forward, "time of a stage's forward of a micro-batch")
      ->capture_default_str()
      ->group(group);
  app.add_option("--input-backward", flags->input_backward,
                 "time of the part of a backward that the stage before needs")
      ->capture_default_str()
      ->group(group);
  app.add_option("--weight-backward", flags->weight_backward, "time of the part that gives the weights' gradients")
      ->capture_default_str()
      ->group(group);
  app.add_option("--message", flags->message, "time from rank to rank")->capture_default_str()->group(group);
}

std::vector<std::string> pipeline_names() {
  std::vector<std::string> names;
  for (const PipelineFamily& family : pipeline_families()) names.emplace_back(family.name);
  return names;
}

bool is_pipeline(const std::string& id) { return pipeline_family_named(id) != nullptr || id.ends_with(".csv"); }

int explain_pipeline(const std::string& id, const PipelineFlags& flags, const std::string& svg, std::string& page,
                     Console& console) {
  const PipelineFamily* family = pipeline_family_named(id);
  const std::optional<PipelineCosts> costs = costs_of(flags, console);
  if (!costs) return exit_wrong_input;
  if (family != nullptr && flags.microbatches.size() > 1 && !svg.empty()) {
    console.problem("--svg draws one schedule; give --microbatches one number");
    return exit_wrong_input;
  }
  if (family != nullptr && flags.microbatches.size() > 1) return sweep_microbatches(*family, flags, *costs, page, console);
  const std::optional<PipelineSchedule> schedule =
      family != nullptr ? made(*family, flags, flags.microbatches.front(), console) : read_csv(id, console);
  if (!schedule) return exit_wrong_input;
  const Result<PipelineTiming> timing = time_pipeline(*schedule, *costs);
  if (!timing.ok()) {
    console.problem(timing.error().message);
    return exit_wrong_input;
  }
  page = whole_page(*schedule, *timing, family != nullptr ? family->help : "");
  if (svg.empty()) return exit_held;
  const Status written = write_whole_file(svg, draw_pipeline_svg(*schedule, *timing));
  if (written.ok()) return exit_held;
  console.problem(written.error().message);
  return status_of(written.error());
}

}  // namespace pdsim::tools
