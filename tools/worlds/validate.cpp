// pdsim validate: every collective, algorithm, dtype, operation, size and root against what must come out.

#include "scenarios/measure/validate.h"

#include "core/base/quantity.h"
#include "tools/console/output_folder.h"
#include "tools/console/pair_rows.h"
#include "tools/console/progress.h"
#include "tools/flags/trial_flags.h"
#include "tools/worlds/pairs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
  TrialFlags trial;
  std::string max_bytes = "16KiB";
  PairFlags pairs;
};

ValidationRequest request_of(const ValidateOptions& options, const scenarios::TrialAlgorithm& algorithm) {
  ValidationRequest request;
  request_algorithm(request, algorithm);
  if (const auto dtype = dtype_of(options.trial)) request.dtypes = {*dtype};
  if (const auto op = op_of(options.trial)) request.ops = {*op};
  request.max_bytes = parse_size(options.max_bytes).value().count;
  return request;
}

std::string hex(std::uint64_t bits, DType dtype) { return fmt::format("0x{:0{}x}", bits, 2 * size_of(dtype)); }

Json json_of(const WrongData& first, DType dtype) {
  Json json{{"rank", first.rank}, {"count", first.count}, {"root", first.root}, {"in_place", first.in_place}};
  if (first.element.element < 0) {
    json["problem"] = "the input was written";
    return json;
  }
  json["element"] = first.element.element;
  json["expected"] = first.element.expected;
  json["got"] = first.element.got;
  json["expected_bits"] = hex(first.element.expected_bits, dtype);
  json["got_bits"] = hex(first.element.got_bits, dtype);
  return json;
}

std::string text_of(const WrongData& first, std::pair<DType, ReduceOp> group, bool reduces) {
  const std::string what =
      reduces ? fmt::format("{} {}", name_of(group.first), name_of(group.second)) : std::string(name_of(group.first));
  const std::string where = fmt::format("    {}, count {}, root {}, {}: rank {}", what, first.count, first.root,
                                        first.in_place ? "in place" : "out of place", first.rank);
  if (first.element.element < 0) return where + " has its input written\n";
  const WrongElement& e = first.element;
  return fmt::format("{} element {} must be {} ({}) and is {} ({})\n", where, e.element, e.expected,
                     hex(e.expected_bits, group.first), e.got, hex(e.got_bits, group.first));
}

// Sums over everything that ran.
struct Totals {
  std::int64_t cases = 0, wrong = 0, skipped = 0, failed = 0;
  std::map<std::string, std::int64_t> skip_reasons;
};

class ValidationWriter {
 public:
  ValidationWriter(const ValidateOptions& options, const scenarios::TrialWorld& world, Console& console)
      : options_(options), world_(world), console_(console) {}

  void begin() {
    if (options_.trial.json) return;
    const Availability here = world_.row->make(world_.row->name)->available();
    console_.print(
        fmt::format("validate on {}{}{}, {} ranks, up to {} a rank\n\n{:<16} {:<20} {:>8} {:>8} {:>8} {:>8}\n",
                    world_.row->name, here.version.empty() ? "" : " ", here.version, options_.trial.ranks,
                    options_.max_bytes, "collective", "algorithm", "cases", "wrong", "max ulp", "skipped"));
  }

  void tell(const scenarios::TrialAlgorithm& algorithm, const scenarios::Validated& v) {
    totals_.cases += v.cases();
    totals_.wrong += v.wrong();
    totals_.skipped += v.skipped();
    totals_.failed += v.failure.empty() ? 0 : 1;
    for (const auto& [reason, times] : v.result.skip_reasons) totals_.skip_reasons[reason] += times;
    options_.trial.json ? tell_json(algorithm, v) : tell_text(algorithm, v);
  }

  int end() {
    const bool held = totals_.wrong == 0 && totals_.failed == 0, nothing = held && totals_.cases == 0;
    if (options_.trial.json) {
      const Json summary{{"version", validate_json_version},
                         {"summary", true},
                         {"world", world_.row->name},
                         {"ranks", options_.trial.ranks},
                         {"cases", totals_.cases},
                         {"wrong", totals_.wrong},
                         {"skipped", totals_.skipped},
                         {"failed", totals_.failed},
                         {"skip_reasons", totals_.skip_reasons}};
      console_.print(summary.dump() + "\n");
    } else {
      if (!totals_.skip_reasons.empty()) console_.print("\nskipped\n");
      for (const auto& [reason, times] : totals_.skip_reasons)
        console_.print(fmt::format("{:>8}  {}\n", times, reason));
      console_.print(fmt::format("\n{} cases, {} wrong elements, {} skipped, {} did not finish: {}\n", totals_.cases,
                                 totals_.wrong, totals_.skipped, totals_.failed,
                                 nothing ? "nothing was checked"
                                 : held  ? "ok"
                                         : "NOT ok"));
    }
    return nothing ? exit_not_available : held ? exit_held : exit_did_not_hold;
  }

 private:
  void tell_text(const scenarios::TrialAlgorithm& algorithm, const scenarios::Validated& v) {
    std::string text =
        fmt::format("{:<16} {:<20} {:>8} {:>8} {:>8} {:>8}{}\n", name_of(algorithm.kind), algorithm.name, v.cases(),
                    v.wrong(), v.max_ulp(), v.skipped(), v.failure.empty() ? "" : "  did not finish");
    for (const auto& [group, tally] : v.result.groups)
      if (tally.first) text += text_of(*tally.first, group, row(algorithm.kind).reduces);
    if (!v.failure.empty()) text += "\n" + v.failure + "\n";
    console_.print(text);
  }

  void tell_json(const scenarios::TrialAlgorithm& algorithm, const scenarios::Validated& v) {
    const bool reduces = row(algorithm.kind).reduces;
    for (const auto& [group, tally] : v.result.groups) {
      Json line{{"version", validate_json_version},
                {"collective", name_of(algorithm.kind)},
                {"algorithm", algorithm.name},
                {"dtype", name_of(group.first)}};
      if (reduces) line["op"] = name_of(group.second);
      line["cases"] = tally.cases;
      line["wrong"] = tally.wrong;
      line["max_ulp"] = tally.max_ulp;
      line["skipped"] = tally.skipped;
      if (tally.first) line["first"] = json_of(*tally.first, group.first);
      console_.print(line.dump() + "\n");
    }
    if (v.failure.empty()) return;
    const Json line{{"version", validate_json_version},
                    {"collective", name_of(algorithm.kind)},
                    {"algorithm", algorithm.name},
                    {"failure", v.failure}};
    console_.print(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  const ValidateOptions& options_;
  const scenarios::TrialWorld& world_;
  Console& console_;
  Totals totals_;
};

int try_all(const ValidateOptions& options, Trial& trial, Console& console) {
  scenarios::TrialWorld& world = trial.world;
  std::int64_t total = 0, done = 0;
  for (const auto& algorithm : trial.algorithms)
    total += validation_cases(request_of(options, algorithm), options.trial.ranks);
  if (total == 0) {
    console.problem("nothing to check: no case has this collective, dtype and operation");
    return exit_wrong_input;
  }
  Progress progress(total, "cases");
  ValidationWriter writer(options, world, console);
  writer.begin();
  for (const auto& algorithm : trial.algorithms) {
    progress.at(done, fmt::format("{} {}", name_of(algorithm.kind), algorithm.name));
    const ValidationRequest request = request_of(options, algorithm);
    world.scenario.name = fmt::format("validate {} {}", name_of(algorithm.kind), algorithm.name);
    const Result<scenarios::Validated> validated = scenarios::validate(world, request);
    progress.clear();
    if (!validated.ok()) {
      console.problem(fmt::format("{} {}: {}", name_of(algorithm.kind), algorithm.name, validated.error().message));
      return status_of(validated.error());
    }
    writer.tell(algorithm, *validated);
    done += validation_cases(request, options.trial.ranks);
  }
  return writer.end();
}

int run(ValidateOptions& options, Console& console) {
  const TrialCommand command{"validate", {}, [&options](const scenarios::WorldRow&, bool in_a_job) -> std::string {
                               if (!options.pairs.svg.empty() && !options.pairs.pairs && !options.pairs.expect)
                                 return "--svg is the heat map of --pairs; give both";
                               if (options.pairs.pairs || options.pairs.expect) return "";
                               const std::int64_t part = parse_size(options.max_bytes).value().count;
                               return memory_problem(part * options.trial.ranks, in_a_job ? 1 : options.trial.ranks);
                             }};
  return run_trials(options.trial, command, console, [&](Trial& trial) {
    if (options.pairs.pairs || options.pairs.expect) return validate_pairs(options.trial, options.pairs, trial, console);
    return try_all(options, trial, console);
  });
}

}  // namespace

Action declare_validate(CLI::App& app) {
  const auto options = std::make_shared<ValidateOptions>();
  add_trial_flags(app, options->trial);
  app.add_option("--max-bytes", options->max_bytes, "of one rank's part in a call")
      ->check(size_problem)
      ->capture_default_str();
  app.add_flag("--pairs", options->pairs.pairs, "time every pair of ranks instead, and name the slow links");
  app.add_option("--svg", options->pairs.svg, "with --pairs: a file for the heat map of the links")->check(place_problem);
  app.add_option("--expect", options->pairs.expect,
                 "with --pairs, also compare collectives with the speed that the links allow: at least this fraction "
                 "of it")
      ->check(number_between(0.01, 1.0), "FLOAT in [0.01 - 1]");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace pdsim::tools
