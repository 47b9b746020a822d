// pdsim bench: times collectives, in the columns of nccl-tests.

#include "scenarios/measure/bench.h"

#include "core/base/quantity.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/reduce.h"
#include "core/group/raw_caller.h"
#include "tools/console/bench_rows.h"
#include "tools/console/progress.h"
#include "tools/flags/trial_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using scenarios::TrialAlgorithm;

struct BenchOptions {
  TrialFlags trial;
  std::string min = "1KiB", max = "4MiB";
  double factor = 4.0;
  std::optional<int> iterations, warmup;
  Rank root = 0;
  bool raw = false;
  int blocks = 10;
  std::string payload = "real";
};

// Ascending; each size once, rounded down to whole parts.
std::vector<std::int64_t> counts_of(const BenchOptions& options, CollectiveKind kind, DType dtype) {
  if (!row(kind).has_input) return {0};
  std::vector<std::int64_t> counts;
  const auto most = static_cast<double>(parse_size(options.max).value().count);
  double bytes = static_cast<double>(parse_size(options.min).value().count);
  while (bytes <= most) {
    const auto elements = static_cast<std::int64_t>(bytes) / static_cast<std::int64_t>(size_of(dtype));
    const std::int64_t count = count_of_total(kind, elements, options.trial.ranks);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    bytes = bytes == 0.0 ? 1.0 : bytes * options.factor;
  }
  return counts;
}

TimingRequest request_of(const BenchOptions& options, const TrialAlgorithm& algorithm, bool simulated) {
  using namespace literals;
  TimingRequest request;
  request_algorithm(request, algorithm);
  request.dtype = dtype_named(options.trial.dtype).value_or(DType::f32);
  request.op = reduce_op_named(options.trial.op).value_or(ReduceOp::sum);
  request.root = row(algorithm.kind).rooted ? options.root : 0;
  request.counts = counts_of(options, algorithm.kind, request.dtype);
  request.moves_data = options.payload == "real";
  request.iterations = options.iterations.value_or(simulated ? 1 : 20);
  request.warmup = options.warmup.value_or(simulated ? 0 : 5);
  const std::string& world = options.trial.on;
  if (options.raw && raw_problem(world, request.kind, request.dtype, request.op).empty())
    request.raw_forms = static_cast<int>(raw_functions(world, request.kind).size());
  request.blocks = options.blocks;
  if (simulated) request.align = 1_s;
  return request;
}

// From when the first rank begins its timed calls to when the last one has ended them, of all rounds together.
class Stopwatch {
 public:
  explicit Stopwatch(int ranks) : ranks_(ranks) {}
  void tell(bool begin) {
    if (begin && begun_++ % ranks_ == 0) start_ = now();
    if (begin || ++ended_ % ranks_ != 0) return;
    const Instant end = now();
    wall_ += end.wall - start_.wall;
    cpu_ += end.cpu - start_.cpu;
  }
  double wall() const { return wall_.count(); }
  double cpu() const { return static_cast<double>(cpu_) / CLOCKS_PER_SEC; }

 private:
  struct Instant {
    std::chrono::steady_clock::time_point wall;
    std::clock_t cpu;  // of the process
  };
  static Instant now() { return {std::chrono::steady_clock::now(), std::clock()}; }
  std::int64_t ranks_, begun_ = 0, ended_ = 0;
  Instant start_{};
  std::chrono::duration<double> wall_{};
  std::clock_t cpu_ = 0;
};

class Bench {
 public:
  Bench(const BenchOptions& options, scenarios::TrialWorld world, Console& console)
      : options_(options), world_(std::move(world)), console_(console) {
    table_.world = world_.row->name;
    table_.version = world_.row->make(world_.row->name)->available().version;
    table_.ranks = options.trial.ranks;
    table_.bytes_before = peak_rss_bytes();
    table_.simulated = world_.row->kind == scenarios::WorldKind::simulated;
  }

  int run(const std::vector<TrialAlgorithm>& algorithms) {
    Progress progress(static_cast<std::int64_t>(algorithms.size()), "tables");
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      progress.at(static_cast<std::int64_t>(i), fmt::format("{} {}", name_of(algorithms[i].kind), algorithms[i].name));
      const int status = run(algorithms[i], progress);
      if (status != exit_held) return status;
    }
    return wrong_ == 0 && !failed_ ? exit_held : exit_did_not_hold;
  }

 private:
  // A simulated run has one size, so that its cost is told per row; real ranks are started once for all of them.
  int run(const TrialAlgorithm& algorithm, Progress& progress) {
    TimingRequest request = request_of(options_, algorithm, table_.simulated);
    const std::vector<std::int64_t> counts = request.counts;
    table_.raw.clear();
    if (request.raw_forms > 0) table_.raw = raw_functions(table_.world, algorithm.kind);
    if (!options_.trial.json) {
      progress.clear();
      console_.print(bench_header(table_, request));
    }
    BenchCost total;
    if (!table_.simulated) return tell_run(request, algorithm, progress, total);
    for (const std::int64_t count : counts) {
      request.counts = {count};
      const int status = tell_run(request, algorithm, progress, total);
      if (status != exit_held) return status;
    }
    if (!options_.trial.json) console_.print(bench_cost(table_, total));
    return exit_held;
  }

  int tell_run(TimingRequest request, const TrialAlgorithm& algorithm, Progress& progress, BenchCost& total) {
    world_.scenario.name = fmt::format("bench {} {}", name_of(algorithm.kind), algorithm.name);
    world_.scenario.world.spec.payload = request.moves_data;
    Stopwatch timed_calls(table_.ranks);
    if (table_.simulated) request.on_timed = [&timed_calls](bool begin) { timed_calls.tell(begin); };
    const auto start = std::chrono::steady_clock::now();
    const Result<scenarios::Timed> timed = scenarios::time(world_, request);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    progress.clear();
    if (!timed.ok()) {
      console_.problem(fmt::format("{} {}: {}", name_of(algorithm.kind), algorithm.name, timed.error().message));
      return status_of(timed.error());
    }
    const BenchCost cost{timed_messages(request, timed->messages), timed_calls.wall(), timed_calls.cpu(), took.count()};
    total.messages += cost.messages;
    total.wall_s += cost.wall_s;
    total.cpu_s += cost.cpu_s;
    total.run_wall_s += cost.run_wall_s;
    tell(request, *timed, cost);
    return exit_held;
  }

  void tell(const TimingRequest& request, const scenarios::Timed& timed, const BenchCost& cost) {
    const std::vector<TimedRound>& rounds = timed.rounds;
    RawRatios ratios;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      wrong_ += rounds[i].wrong;
      for (const RawTime& raw : rounds[i].raw) wrong_ += raw.wrong;
      ratios.add(rounds[i]);
      if (options_.trial.json) {
        console_.print(bench_json(table_, request, rounds[i], cost));
        continue;
      }
      if (rounds[i].in_place) continue;
      const bool pair = i + 1 < rounds.size() && rounds[i + 1].in_place;
      console_.print(bench_row(table_, request, rounds[i], pair ? &rounds[i + 1] : nullptr));
    }
    if (!options_.trial.json) console_.print(below(request, ratios));
    if (timed.failure.empty()) return;
    failed_ = true;
    const nlohmann::ordered_json line{
        {"collective", name_of(request.kind)}, {"algorithm", request.algorithm}, {"failure", timed.failure}};
    console_.print(options_.trial.json ? line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                                       : "\n" + timed.failure + "\n");
  }

  std::string below(const TimingRequest& request, const RawRatios& ratios) const {
    if (!options_.raw) return "";
    const std::string problem = raw_problem(table_.world, request.kind, request.dtype, request.op);
    return problem.empty() ? ratios.footer(table_.raw) : fmt::format("# {}\n\n", problem);
  }

  const BenchOptions& options_;
  scenarios::TrialWorld world_;
  Console& console_;
  BenchTable table_;
  std::int64_t wrong_ = 0;
  bool failed_ = false;
};

std::string conflict(const BenchOptions& options, const scenarios::WorldRow& world) {
  const Result<Bytes> least = parse_size(options.min), most = parse_size(options.max);
  if (*least > *most) return fmt::format("--min {} is more than --max {}", options.min, options.max);
  if (options.root >= options.trial.ranks)
    return fmt::format("root {} is not a rank: there are {}", options.root, options.trial.ranks);
  if (options.raw && world.kind == scenarios::WorldKind::simulated)
    return "--raw calls the library directly, and below the simulated world there is none; name one with --on";
  if (options.payload == "none" && world.kind == scenarios::WorldKind::real)
    return "--payload none moves sizes only, and that only the simulated world can";
  if (options.payload == "real")
    if (std::string problem = memory_problem(most->count, options.trial.ranks); !problem.empty())
      return problem + "; --payload none moves sizes only, in the simulated world";
  const auto dtype = dtype_named(options.trial.dtype).value_or(DType::f32);
  const auto op = reduce_op_named(options.trial.op).value_or(ReduceOp::sum);
  return supports(op, dtype) ? "" : fmt::format("{} does not exist for {}", name_of(op), name_of(dtype));
}

int run(BenchOptions& options, Console& console) {
  const auto place = place_in_job(options.trial);
  if (!place.ok()) {
    console.problem(place.error().message);
    return exit_wrong_input;
  }
  Trial trial = prepare_trial(
      options.trial, "bench", [&options](const scenarios::WorldRow& world) { return conflict(options, world); },
      console);
  if (trial.status != exit_held) return trial.status;
  return run_joined(*place, options.trial.join, console, [&](Job* job) {
    trial.world.options.job = job;
    return Bench(options, std::move(trial.world), console).run(trial.algorithms);
  });
}

}  // namespace

Action declare_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  options->trial.collective = "all_reduce";
  options->trial.algorithm = "auto";
  add_trial_flags(app, options->trial);
  app.add_option("-b,--min", options->min, "smallest size")->check(size_problem)->capture_default_str();
  app.add_option("-e,--max", options->max, "largest size")->check(size_problem)->capture_default_str();
  app.add_option("-f,--factor", options->factor, "from one size to the next")
      ->check(number_between(1.01, 1e6), "FLOAT in [1.01 - 1e+06]")
      ->capture_default_str();
  app.add_option("-n,--iters", options->iterations, "timed calls of each size; default: 20, simulated 1")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("-w,--warmup", options->warmup, "untimed calls before them; default: 5, simulated 0")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("-r,--root", options->root, "of rooted collectives")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_flag(
      "--raw", options->raw,
      "time the library's own functions too, called directly, in turns with ours; times are medians of blocks");
  app.add_option("--blocks", options->blocks, "with --raw: how many blocks of --iters calls of each")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--payload", options->payload, "real, or none: sizes only (simulated world)")
      ->check(CLI::IsMember({"real", "none"}))
      ->capture_default_str();
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace pdsim::tools
