// pdsim bench: times collectives, in the columns of nccl-tests.

#include "scenarios/measure/bench.h"

#include "core/group/raw_caller.h"
#include "tools/console/bench_rows.h"
#include "tools/console/progress.h"
#include "tools/flags/bench_flags.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using scenarios::TrialAlgorithm;

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
  Bench(const BenchFlags& flags, scenarios::TrialWorld world, Console& console)
      : flags_(flags), world_(std::move(world)), console_(console) {
    table_.world = world_.row->name;
    table_.version = world_.row->make(world_.row->name)->available().version;
    table_.ranks = flags.trial.ranks;
    table_.bytes_before = peak_rss_bytes();
    table_.simulated = world_.row->kind == scenarios::WorldKind::simulated;
    if (flags.nccl_tests.average || !table_.simulated) table_.shown = flags.nccl_tests.shown();
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
  int run(const TrialAlgorithm& algorithm, Progress& progress) {
    for (const TimingRequest& request : bench_requests(flags_, algorithm, table_.simulated)) {
      const int status = run(request, algorithm, progress);
      if (status != exit_held) return status;
    }
    return exit_held;
  }

  // A simulated run has one size, so that its cost is told per row; real ranks are started once for all of them.
  int run(TimingRequest request, const TrialAlgorithm& algorithm, Progress& progress) {
    const std::vector<std::int64_t> counts = request.counts;
    table_.raw.clear();
    table_.counts = counts;
    table_.chosen = scenarios::algorithms_taken(world_, request);
    totals_ = {};
    if (request.raw_forms > 0) table_.raw = raw_functions(table_.world, algorithm.kind);
    if (!flags_.trial.json) {
      progress.clear();
      console_.print(bench_header(table_, request));
    }
    BenchCost total;
    int status = exit_held;
    if (!table_.simulated) status = tell_run(request, algorithm, progress, total);
    for (std::size_t i = 0; table_.simulated && i < counts.size() && status == exit_held; ++i) {
      request.counts = {counts[i]};
      request.moves_data = moves_data(flags_, request, counts[i]);
      status = tell_run(request, algorithm, progress, total);
    }
    if (status != exit_held) return status;
    if (flags_.trial.json) return exit_held;
    console_.print(bench_footer(totals_, flags_.payload == "none"));
    if (table_.simulated) console_.print(bench_cost(table_, total));
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
      totals_.add(table_, request, rounds[i]);
      for (const RawTime& raw : rounds[i].raw) wrong_ += raw.wrong;
      ratios.add(rounds[i]);
      if (flags_.trial.json) {
        console_.print(bench_json(table_, request, rounds[i], cost));
        continue;
      }
      if (rounds[i].in_place) continue;
      const bool pair = i + 1 < rounds.size() && rounds[i + 1].in_place;
      console_.print(bench_row(table_, request, rounds[i], pair ? &rounds[i + 1] : nullptr));
    }
    if (!flags_.trial.json) console_.print(below(request, ratios));
    if (timed.failure.empty()) return;
    failed_ = true;
    const nlohmann::ordered_json line{{"version", bench_json_version},
                                      {"collective", name_of(request.kind)},
                                      {"algorithm", request.algorithm},
                                      {"failure", timed.failure}};
    console_.print(flags_.trial.json ? line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                                       : "\n" + timed.failure + "\n");
  }

  std::string below(const TimingRequest& request, const RawRatios& ratios) const {
    if (!flags_.raw) return "";
    const std::string problem = raw_problem(table_.world, request.kind, request.dtype, request.op);
    return problem.empty() ? ratios.footer(table_.raw) : fmt::format("# {}\n\n", problem);
  }

  const BenchFlags& flags_;
  scenarios::TrialWorld world_;
  Console& console_;
  BenchTable table_;
  BenchTotals totals_;
  std::int64_t wrong_ = 0;
  bool failed_ = false;
};

int run(BenchFlags& flags, Console& console) {
  const TrialCommand command{
      "bench", [&flags](bool in_a_job) { return take_nccl_tests_flags(flags.nccl_tests, in_a_job, flags.trial); },
      [&flags](const scenarios::WorldRow& world, bool in_a_job) { return bench_conflict(flags, world, in_a_job); }};
  return run_trials(flags.trial, command, console, [&](Trial& trial) {
    return Bench(flags, std::move(trial.world), console).run(trial.algorithms);
  });
}

}  // namespace

Action declare_bench(CLI::App& app) {
  const auto flags = std::make_shared<BenchFlags>();
  add_bench_flags(app, *flags);
  return [flags](Console& console) { return run(*flags, console); };
}

}  // namespace pdsim::tools
