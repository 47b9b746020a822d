#include "tools/worlds/pairs.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/collective_shape.h"
#include "scenarios/measure/bench.h"
#include "scenarios/measure/fitted_world.h"
#include "tools/console/heat_map.h"
#include "tools/console/pair_rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;
using scenarios::TrialWorld;

class Writer {
 public:
  Writer(const TrialFlags& flags, const TrialWorld& world, Console& console)
      : json_(flags.json), world_(world), ranks_(flags.ranks), console_(console) {}

  void links(const scenarios::TimedPairs& timed) {
    if (json_) return console_.print(pairs_json(timed));
    const Availability here = world_.row->make(world_.row->name)->available();
    console_.print(pairs_text(fmt::format("{}{}{}", world_.row->name, here.version.empty() ? "" : " ", here.version), ranks_, timed));
  }

  void failure(const std::string& report) {
    if (!json_) return console_.print("\n" + report + "\n");
    console_.print(Json{{"version", validate_json_version}, {"failure", report}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  void world(const sim::WorldSpec& spec) {
    const std::string text = scenarios::world_text(spec);
    if (json_) return console_.print(Json{{"version", validate_json_version}, {"world", text}}.dump() + "\n");
    console_.print(fmt::format("\nfor a scenario   {}\n", text));
  }

  void begin_predictions(double expect) {
    if (json_) return;
    console_.print(fmt::format("\n{:<12} {:<12} {:>10} {:>12} {:>12} {:>7}   at least {}\n", "collective", "algorithm",
                               "bytes", "predicted", "measured", "ratio", expect));
  }

  void prediction(const TimingRequest& request, std::int64_t count, Time predicted, Time measured, double ratio,
                  bool held) {
    const std::int64_t bytes =
        total_elements(request.kind, count, ranks_) * static_cast<std::int64_t>(size_of(request.dtype));
    if (json_) {
      const Json line{{"version", validate_json_version},
                      {"collective", name_of(request.kind)},
                      {"algorithm", request.algorithm},
                      {"bytes", bytes},
                      {"predicted_us", predicted.us()},
                      {"measured_us", measured.us()},
                      {"ratio", ratio},
                      {"held", held}};
      return console_.print(line.dump() + "\n");
    }
    console_.print(fmt::format("{:<12} {:<12} {:>10} {:>12} {:>12} {:>7.2f}{}\n", name_of(request.kind), request.algorithm,
                               to_string(Bytes{bytes}), to_string(predicted), to_string(measured), ratio,
                               held ? "" : "   slower than expected"));
  }

 private:
  bool json_;
  const TrialWorld& world_;
  int ranks_;
  Console& console_;
};

// Plans, whose messages the simulated network sends as the library does; its own collectives are its own affair.
constexpr std::array predicted_kinds{CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::all_to_all};

constexpr int most_simulated = 1024;  // ranks of --pairs; a record of all messages needs memory

std::vector<TimingRequest> predicted_requests(const TrialFlags& flags) {
  std::vector<TimingRequest> requests;
  for (const CollectiveKind kind : predicted_kinds) {
    if (flags.collective != "all" && flags.collective != name_of(kind)) continue;
    TimingRequest request;
    request.kind = kind;
    request.algorithm = std::string(find_algorithm(kind, "auto").value()->name);
    request.in_place_too = false;
    for (const std::int64_t bytes : {4 << 10, 64 << 10, 1 << 20})
      request.counts.push_back(count_of_total(kind, bytes / 4, flags.ranks));
    requests.push_back(request);
  }
  return requests;
}

// Whether all held; an error ends it.
Result<bool> compare(const TrialFlags& flags, const TrialWorld& world, const sim::WorldSpec& fitted, double expect, Writer& writer) {
  bool all_held = true;
  writer.begin_predictions(expect);
  for (const TimingRequest& request : predicted_requests(flags)) {
    const Result<scenarios::LeastTimes> measured = scenarios::time_least(world, request);
    if (!measured.ok()) return measured.error();
    if (!measured->failure.empty()) {
      writer.failure(measured->failure);
      return false;
    }
    const Result<std::vector<Time>> predicted = scenarios::predict(fitted, request);
    if (!predicted.ok()) return predicted.error();
    for (std::size_t i = 0; i < predicted->size(); ++i) {
      const Time expected = (*predicted)[i], took = measured->times[i];
      const double ratio = static_cast<double>(expected.ps) / static_cast<double>(std::max<std::int64_t>(1, took.ps));
      const bool held = ratio >= expect;
      writer.prediction(request, request.counts[i], expected, took, ratio, held);
      all_held = all_held && held;
    }
  }
  return all_held;
}

std::string pairs_problem(const TrialFlags& flags, const PairFlags& pairs, const TrialWorld& world) {
  if (flags.ranks < 2) return "--pairs and --expect need at least two ranks";
  const bool simulated = world.row->kind == scenarios::WorldKind::simulated;
  if (simulated && flags.ranks > most_simulated)
    return fmt::format("--pairs times up to {} simulated ranks; with more, time the links of a part", most_simulated);
  const bool names_what_is_none = flags.collective != "all" && (!pairs.expect || predicted_requests(flags).empty());
  if (names_what_is_none || flags.algorithm != "all" || dtype_of(flags) || op_of(flags))
    return "--pairs times messages, and --expect all_reduce, broadcast and all_to_all of f32 by the plans "
           "that auto takes: with --expect, --collective may name one of these; --algorithm, --dtype and --op do not "
           "apply";
  return "";
}

// Whether all held; an error ends it.
Result<bool> fit_and_compare(const TrialFlags& flags, const TrialWorld& world, const scenarios::TimedPairs& timed,
                             std::optional<double> expect, Writer& writer) {
  const Result<scenarios::FittedWorld> fitted = scenarios::fit_world(world, timed);
  if (!fitted.ok()) return fitted.error();
  if (!fitted->failure.empty()) {
    writer.failure(fitted->failure);
    return false;
  }
  writer.world(fitted->spec);
  return expect ? compare(flags, world, fitted->spec, *expect, writer) : true;
}

bool write_picture(const TrialFlags& flags, const std::string& path, const scenarios::TimedPairs& timed, Console& console) {
  std::vector<std::string> classes;
  for (const scenarios::LinkClass& link : timed.classes) classes.push_back(link.name);
  std::ofstream file(path, std::ios::binary);
  file << heat_svg(fmt::format("links of {}, {} ranks", flags.on, flags.ranks), flags.ranks, timed.pairs, classes);
  file.close();
  if (!file) console.problem(fmt::format("{} cannot be written", path));
  return static_cast<bool>(file);
}

}  // namespace

int validate_pairs(const TrialFlags& flags, const PairFlags& pairs, Trial& trial, Console& console) {
  if (const std::string problem = pairs_problem(flags, pairs, trial.world); !problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  trial.world.scenario.name = "validate pairs";
  const Result<scenarios::TimedPairs> timed = scenarios::time_pairs(trial.world, {});
  if (!timed.ok()) {
    console.problem(timed.error().message);
    return status_of(timed.error());
  }
  Writer writer(flags, trial.world, console);
  writer.links(*timed);
  if (!timed->failure.empty()) {
    writer.failure(timed->failure);
    return exit_did_not_hold;
  }
  if (!pairs.svg.empty() && !write_picture(flags, pairs.svg, *timed, console)) return exit_failed;
  for (const scenarios::LinkClass& link : timed->classes)
    if (!has_bandwidth(link.fit)) {
      const std::string shortest = to_string(Bytes{timed->bytes.front()}), longest = to_string(Bytes{timed->bytes.back()});
      writer.failure(
          fmt::format("the bandwidth cannot be determined: messages of {} took no longer than those of {}. ", longest, shortest) +
          "If other work disturbed the machine, time the links again when it is idle");
      return exit_did_not_hold;
    }
  bool held = std::all_of(timed->pairs.begin(), timed->pairs.end(),
                          [](const PairTimes& pair) { return pair.slowness < slow_link; });
  const Result<bool> compared = fit_and_compare(flags, trial.world, *timed, pairs.expect, writer);
  if (!compared.ok()) {
    console.problem(compared.error().message);
    return status_of(compared.error());
  }
  held = held && *compared;
  return held ? exit_held : exit_did_not_hold;
}

}  // namespace pdsim::tools
