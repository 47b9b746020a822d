// pdsim buckets: how DistributedDataParallel lays gradients out in buckets, in the first iteration and afterwards.

#include "backends/os/whole_file.h"
#include "core/parallel/bucket_layout.h"
#include "core/semantics/profile.h"
#include "scenarios/text/printable_json.h"
#include "tools/command.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/gradients.h"
#include "tools/scenarios/load.h"
#include "tools/scenarios/sweep.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

struct BucketsOptions {
  std::string file, variant, bucket_cap, profile, svg;
  std::vector<std::string> sweep;
  bool json = false;
};

std::vector<std::int64_t> bytes_of(const Gradients& g, const BucketLayout& layout) {
  std::vector<std::int64_t> bytes;
  for (const auto& bucket : layout) {
    bytes.push_back(0);
    for (const std::size_t i : bucket)
      bytes.back() += g.tensors[i].elements * static_cast<std::int64_t>(size_of(g.tensors[i].dtype));
  }
  return bytes;
}

nlohmann::ordered_json as_json(const Gradients& g, const BucketLayout& layout) {
  nlohmann::ordered_json buckets = nlohmann::ordered_json::array();
  const std::vector<std::int64_t> bytes = bytes_of(g, layout);
  for (std::size_t b = 0; b < layout.size(); ++b) {
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const std::size_t i : layout[b]) names.push_back(g.names[i]);
    buckets.push_back({{"bytes", bytes[b]}, {"parameters", names}});
  }
  return buckets;
}

std::string as_text(const Gradients& g, const BucketLayout& layout, std::string_view title) {
  std::string text = fmt::format("\n{}: {} bucket{}\n", title, layout.size(), layout.size() == 1 ? "" : "s");
  const std::vector<std::int64_t> bytes = bytes_of(g, layout);
  for (std::size_t b = 0; b < layout.size(); ++b) {
    std::vector<std::string> names;
    for (const std::size_t i : layout[b]) names.push_back(g.names[i]);
    constexpr std::size_t shown = 6;
    const std::string more = names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
    names.resize(std::min(names.size(), shown));
    text += fmt::format("  {:>3}  {:>12} B  {}{}\n", b, bytes[b], fmt::join(names, ", "), more);
  }
  return text;
}

// Returns the problem with the combination of flags; empty if there is none.
std::string sweep_problem(const BucketsOptions& options) {
  if (options.sweep.empty()) return options.svg.empty() ? "" : "--svg draws a --sweep; give the caps";
  if (options.file.ends_with(".json")) return "--sweep: a list of shapes has no times; give a scenario";
  if (!options.bucket_cap.empty()) return "--bucket-cap: the caps are those of --sweep";
  return "";
}

int sweep(const BucketsOptions& options, Console& console) {
  const auto files = load_all({options.file}, console);
  if (!files) return exit_wrong_input;
  const auto selected = select_variants(files->front(), options.variant, console);
  if (!selected) return exit_wrong_input;
  scenarios::Scenario scenario = *selected->front();
  if (!options.profile.empty()) scenario.world.spec.profile = options.profile;
  std::vector<Bytes> caps;
  for (const std::string& cap : options.sweep) caps.push_back(parse_bytes(cap).value());
  std::sort(caps.begin(), caps.end());
  const Result<std::vector<SweepPoint>> points = sweep_caps(scenario, caps);
  if (!points.ok()) {
    console.problem(fmt::format("{}: {}", scenario.file, points.error().message));
    return points.error().code == Code::input_invalid ? exit_wrong_input : exit_failed;
  }
  if (options.json) {
    for (const SweepPoint& p : *points)
      console.print(nlohmann::ordered_json{{"version", scenarios::json_version},
                                           {"scenario", scenario.name},
                                           {"bucket_cap", p.cap.count},
                                           {"buckets", p.buckets},
                                           {"step_ns", p.step.ns()},
                                           {"communication_ns", p.communication.ns()},
                                           {"exposed_ns", p.exposed.ns()}}
                        .dump() +
                    "\n");
  } else {
    console.print(sweep_text(scenario.name, *points));
  }
  if (options.svg.empty()) return exit_held;
  const Status written = write_whole_file(options.svg, sweep_svg(scenario.name, *points));
  if (written.ok()) return exit_held;
  console.problem(written.error().message);
  return status_of(written.error());
}

int run(const BucketsOptions& options, Console& console) {
  if (const std::string problem = sweep_problem(options); !problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  if (!options.sweep.empty()) return sweep(options, console);
  Result<Gradients> gradients = read_gradients(options.file, options.variant, console);
  if (!gradients.ok()) {
    if (!gradients.error().message.empty()) console.problem(gradients.error().message);
    return exit_wrong_input;
  }
  DdpOptions& ddp = gradients->options;
  if (!options.bucket_cap.empty()) {
    ddp.bucket_cap = parse_bytes(options.bucket_cap).value();
    ddp.explicit_cap = true;
  }
  if (!options.profile.empty()) ddp.profile = profile_named(options.profile)->ddp;
  const BucketLayout initial = initial_layout(gradients->tensors, ddp);
  const BucketLayout rebuilt =
      will_rebuild(ddp) ? rebuilt_layout(gradients->tensors, gradients->ready_order, ddp) : initial;
  if (options.json) {
    const nlohmann::ordered_json object{{"version", scenarios::json_version},
                                        {"file", options.file},
                                        {"parameters", gradients->tensors.size()},
                                        {"bucket_cap", ddp.bucket_cap.count},
                                        {"initial_bytes", bytes_of(*gradients, initial)},
                                        {"buckets_bytes", bytes_of(*gradients, rebuilt)},
                                        {"initial", as_json(*gradients, initial)},
                                        {"rebuilt", as_json(*gradients, rebuilt)}};
    console.print(object.dump() + "\n");
    return exit_held;
  }
  console.print(fmt::format("{}: {} parameters, bucket_cap {}\n", gradients->title, gradients->tensors.size(),
                            to_string(ddp.bucket_cap)) +
                as_text(*gradients, initial, "first iteration, in reverse order of definition") +
                as_text(*gradients, rebuilt,
                        will_rebuild(ddp) ? "afterwards, in the order in which gradients become ready"
                                          : "afterwards the same, because find_unused_parameters keeps the layout"));
  return exit_held;
}

std::string cap_problem(const std::string& text) {
  const Result<Bytes> size = parse_bytes(text);
  return size.ok() ? "" : fmt::format("{}; write a size with its unit, such as 25MiB", size.error().message);
}

std::string profile_problem(const std::string& text) {
  if (profile_named(text) != nullptr) return "";
  return fmt::format("`{}` is not a profile; expected {}", text, fmt::join(profile_names, ", "));
}

}  // namespace

Action declare_buckets(CLI::App& app) {
  const auto options = std::make_shared<BucketsOptions>();
  app.add_option("FILE", options->file,
                 "a scenario with a model, or FILE.json with the shapes in the order in which gradients become ready")
      ->required();
  app.add_option("--variant", options->variant, "of the scenario; default: the first");
  app.add_option("--bucket-cap", options->bucket_cap, "instead of the file's, as if the user had given it")
      ->check(cap_problem);
  app.add_option("--profile", options->profile, "whose DDP: pytorch-2.6, pytorch-2.14 or pytorch-1.13")
      ->check(profile_problem);
  app.add_option("--sweep", options->sweep,
                 "run the scenario with each of these caps, such as 1MiB,4MiB,25MiB, and show the time of its last step")
      ->delimiter(',')
      ->check(cap_problem);
  app.add_option("--svg", options->svg, "with --sweep: a file for the picture of step time against cap")
      ->check(place_problem);
  app.add_flag("--json", options->json, "one JSON object; with --sweep one for each cap");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace pdsim::tools
