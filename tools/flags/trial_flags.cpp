#include "tools/flags/trial_flags.h"

#include "core/base/nearest.h"
#include "core/base/quantity.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/reduce.h"
#include "core/collectives/tuning/tuning.h"
#include "core/semantics/libraries.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/plans/own_plan.h"
#include "tools/flags/nccl_tests_flags.h"
#include "tools/flags/topology_flag.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>

namespace pdsim::tools {
namespace {

using Names = std::vector<std::string_view>;

std::string not_one_of(const std::string& word, std::string_view what, const Names& names) {
  if (std::find(names.begin(), names.end(), word) != names.end()) return "";
  if (const auto close = nearest(word, std::span<const std::string_view>(names)))
    return fmt::format("unknown {} `{}`; did you mean `{}`?", what, word, *close);
  return fmt::format("unknown {} `{}`; expected {}", what, word, fmt::join(names, ", "));
}

Names collective_names() {
  Names names{"all"};
  for (const CollectiveRow& row : collective_table)
    if (row.planned) names.push_back(row.name);
  return names;
}

Names algorithm_names(std::optional<CollectiveKind> kind) {
  Names names{"all", "auto", "native"};
  for (const Tuning& tuning : tunings()) names.push_back(tuning.algorithm);
  for (const Algorithm& row : algorithms())
    if (!pdsim::row(row.kind).point_to_point && (!kind || *kind == row.kind) &&
        std::find(names.begin(), names.end(), row.name) == names.end())
      names.push_back(row.name);
  return names;
}

Names dtype_names() {
  Names names{"all"};
  for (const DTypeRow& row : dtypes) names.push_back(row.name);
  return names;
}

Names op_names() {
  Names names{"all"};
  names.insert(names.end(), reduce_op_names.begin(), reduce_op_names.end());
  return names;
}

template <class Parse>
auto quantity(Parse parse, std::string_view example) {
  return [parse, example](const std::string& text) -> std::string {
    const auto value = parse(text);
    return value.ok() ? "" : fmt::format("{}; write it with its unit, such as {}", value.error().message, example);
  };
}

template <class List>
auto one_of(std::string_view what, const List& list) {
  const Names names(list.begin(), list.end());
  return [what, names](const std::string& word) { return not_one_of(word, what, names); };
}

void add_simulated_flags(CLI::App& app, TrialFlags::Simulated& sim) {
  const auto add = [&app](const char* name, auto& value, const std::string& about) {
    return app.add_option(name, value, about)->capture_default_str()->group("Simulated world");
  };
  add("--latency", sim.latency, "of a message")->check(quantity(parse_time, "5us"));
  add("--bandwidth", sim.bandwidth, "of a rank's port")->check(quantity(parse_rate, "12.5GB/s"));
  add("--reduce-bandwidth", sim.reduce_bandwidth, "at which data is combined; 0GB/s: at once")
      ->check(quantity(parse_rate, "100GB/s"));
  add("--header", sim.header, "added to every message")->check(quantity(parse_bytes, "16B"));
  add("--cores", sim.cores, "of a node, which its ranks share for their messages; 0: there are always enough")
      ->check(CLI::Range(0, 1024));
  add("--nodes", sim.nodes, "over which the ranks are spread evenly")->check(CLI::Range(1, 1 << 20));
  app.add_option("--sharing", sim.sharing,
                 "what messages wait for: none, ports or links; default: ports, with --topology links")
      ->check(one_of("sharing", enum_words<sim::Sharing>))
      ->group("Simulated world");
  app.add_option("--topology", sim.topology,
                 "between nodes, or ranks: fat_tree:leaf=16,oversubscription=2,hop=1us, rail:oversubscription=2, or "
                 "torus:x=8,y=8,z=4")
      ->check(
          [](const std::string& text) { return parse_topology(text).ok() ? "" : parse_topology(text).error().message; })
      ->group("Simulated world");
  add("--buffering", sim.buffering,
      "a send ends when it was received (zero), at once (unbounded), or as the backend has it")
      ->check(one_of("buffering", enum_words<sim::Buffering>));
  add("--backend", sim.backend, fmt::format("library semantics: {}", fmt::join(library_names, ", ")))
      ->check(one_of("backend", library_names));
  add("--engine", sim.engine, "the simulation's: auto, exchange, in-flight or closed-form")->check(engine_problem);
  add("--seed", sim.seed, "of everything that is drawn")->check(seed_problem);
}

Result<scenarios::TrialWorld> trial_world(const TrialFlags& flags, const std::string& name) {
  scenarios::TrialWorld world;
  std::string problem;
  world.row = scenarios::world_named(flags.on, problem);
  if (world.row == nullptr) return Error{Code::invalid_argument, problem, {}};
  if (flags.ranks % flags.sim.nodes != 0)
    return Error{Code::invalid_argument,
                 fmt::format("{} ranks cannot be spread evenly over {} nodes", flags.ranks, flags.sim.nodes),
                 {}};
  world.scenario.name = name;
  sim::WorldSpec& spec = world.scenario.world.spec;
  spec.nodes = flags.sim.nodes;
  spec.ranks_per_node = flags.ranks / flags.sim.nodes;
  spec.two_level = flags.sim.nodes > 1;
  spec.intra.latency = parse_time(flags.sim.latency).value();
  spec.intra.bandwidth = parse_rate(flags.sim.bandwidth).value();
  spec.intra.header = parse_bytes(flags.sim.header).value();
  spec.inter = spec.intra;
  spec.cores = flags.sim.cores;
  spec.reduce_bandwidth = parse_rate(flags.sim.reduce_bandwidth).value();
  if (!flags.sim.topology.empty()) spec.topology = parse_topology(flags.sim.topology).value();
  problem = topology_problem(spec);
  if (!problem.empty()) return Error{Code::invalid_argument, problem, {}};
  spec.sharing = flags.sim.topology.empty() ? sim::Sharing::ports : sim::Sharing::links;
  spec.sharing = value_named<sim::Sharing>(flags.sim.sharing).value_or(spec.sharing);
  spec.buffering = value_named<sim::Buffering>(flags.sim.buffering).value_or(spec.buffering);
  spec.backend = flags.sim.backend;
  spec.seed = world.scenario.seed = flags.sim.seed;
  world.options.engine = sim::engine_named(flags.sim.engine).value();
  world.options.patience = parse_time(flags.patience).value();
  std::error_code ignored;
  world.options.executable = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  return world;
}

// The plan of a file, once it is proven for these ranks: nothing else is started with it.
std::vector<scenarios::TrialAlgorithm> own_plan(const TrialFlags& flags, Console& console) {
  scenarios::LoadedPlan loaded = scenarios::load_plan(flags.algorithm);
  if (loaded.plan == nullptr) {
    console.problem(loaded.problem, {flags.algorithm, loaded.diagnostic});
    return {};
  }
  const Algorithm& row = loaded.plan->algorithm();
  if (flags.collective_option != nullptr && flags.collective_option->count() > 0 && flags.collective != name_of(row.kind)) {
    console.problem(fmt::format("--collective {}: {} is a plan of {}", flags.collective, flags.algorithm, name_of(row.kind)));
    return {};
  }
  ProofOptions options;
  options.min_size = options.max_size = std::min(flags.ranks, 128);
  options.every_root = false;
  options.ranks_per_node = 1;
  const PlanProof proof = prove(row, options);
  if (!proof.ok) {
    const scenarios::PlanFlaw flaw = loaded.plan->flaw(proof);
    console.problem(loaded.plan->refusal(proof), {flaw.file, flaw.diagnostic});
  }
  if (proof.ok && proof.cases == 0)
    console.problem(fmt::format("{}: its `needs` excludes every call on {} ranks", flags.algorithm, flags.ranks));
  if (!proof.ok || proof.cases == 0) return {};
  return {{row.kind, flags.algorithm, std::move(loaded.plan)}};
}

std::vector<scenarios::TrialAlgorithm> chosen_algorithms(const TrialFlags& flags, const scenarios::WorldRow& world,
                                                         Console& console) {
  if (scenarios::names_plan_file(flags.algorithm)) return own_plan(flags, console);
  const std::optional<CollectiveKind> kind = collective_of(flags.collective);
  auto chosen = scenarios::trial_algorithms(world.kind, kind, flags.algorithm == "all" ? "" : flags.algorithm);
  if (!chosen.empty()) return chosen;
  if (flags.algorithm == "native")
    console.problem(
        "native is the library's own collective, and the simulated world has none; name a plan, or use auto");
  else
    console.problem(not_one_of(flags.algorithm, kind ? fmt::format("{} algorithm", flags.collective) : "algorithm",
                               algorithm_names(kind)));
  return {};
}

std::string absent_operation(const TrialFlags& flags) {
  const auto dtype = dtype_of(flags);
  const auto op = op_of(flags);
  return dtype && op && !supports(*op, *dtype) ? fmt::format("{} does not exist for {}", name_of(*op), name_of(*dtype)) : "";
}

// In a job, its place there; `flags.ranks` is then the job's.
Result<std::optional<JobPlace>> place_in_job(TrialFlags& flags) {
  auto place = job_of(flags.on, flags.join);
  if (!place.ok() || !*place) return place;
  if (flags.ranks_option != nullptr && flags.ranks_option->count() > 0 && flags.ranks != (*place)->size)
    return Error{Code::invalid_argument,
                 fmt::format("--ranks asks for {}, but the job that {} started has {}; remove --ranks",
                             flags.ranks, (*place)->by, (*place)->size),
                 {}};
  flags.ranks = (*place)->size;
  return place;
}

}  // namespace

void add_trial_flags(CLI::App& app, TrialFlags& flags) {
  app.add_option("--on", flags.on, "the world: " + scenarios::names_of_worlds())->capture_default_str();
  flags.ranks_option =
      app.add_option("--ranks", flags.ranks, "how many; in a job of mpirun, srun or torchrun: its ranks")
          ->check(CLI::Range(1, 1 << 20))
          ->capture_default_str();
  flags.collective_option = app.add_option("--collective", flags.collective, "one, or all")
                                ->check(one_of("collective", collective_names()))
                                ->capture_default_str();
  app.add_option("--algorithm", flags.algorithm,
                 "a plan, one of your own (FILE.plan, docs/plans.md), native (the library's own), auto, or all")
      ->capture_default_str();
  app.add_option("-d,--dtype,--datatype", flags.dtype, "one, by our name or nccl-tests', or all")
      ->transform(dtype_of_nccl_tests)
      ->check(one_of("dtype", dtype_names()))
      ->capture_default_str();
  app.add_option("-o,--op", flags.op, "one, by our name or nccl-tests', or all")
      ->transform(op_of_nccl_tests)
      ->check(one_of("operation", op_names()))
      ->capture_default_str();
  app.add_option("--patience", flags.patience, "real worlds: how long without progress is a hang")
      ->check(quantity(parse_time, "10s"))
      ->capture_default_str();
  add_join_flags(app, flags.join);
  app.add_flag("--json", flags.json, "one JSON object per line");
  add_simulated_flags(app, flags.sim);
}

std::optional<DType> dtype_of(const TrialFlags& flags) { return dtype_named(flags.dtype); }
std::optional<ReduceOp> op_of(const TrialFlags& flags) { return reduce_op_named(flags.op); }

int run_trials(TrialFlags& flags, const TrialCommand& command, Console& console, const std::function<int(Trial&)>& body) {
  const auto place = place_in_job(flags);
  if (!place.ok()) {
    console.problem(place.error().message);
    return exit_wrong_input;
  }
  const bool in_a_job = place->has_value();
  std::string problem = command.complete ? command.complete(in_a_job) : "";
  if (problem.empty()) problem = absent_operation(flags);
  Result<scenarios::TrialWorld> world = problem.empty() ? trial_world(flags, command.name)
                                                        : Error{Code::invalid_argument, problem, {}};
  problem = world.ok() ? command.conflict(*world->row, in_a_job) : world.error().message;
  if (!problem.empty()) {
    console.problem(problem);
    return exit_wrong_input;
  }
  Trial trial{std::move(*world), {}};
  trial.algorithms = chosen_algorithms(flags, *trial.world.row, console);
  if (trial.algorithms.empty()) return exit_wrong_input;
  const scenarios::WorldRow& row = *trial.world.row;
  if (const Availability here = row.make(row.name)->available(); !here.yes) {
    console.problem(fmt::format("the world {} is not available here: {}", row.name, here.reason));
    return exit_not_available;
  }
  return run_joined(*place, flags.join, console, [&](Job* job) {
    trial.world.options.job = job;
    return body(trial);
  });
}

std::optional<CollectiveKind> collective_of(const std::string& name) {
  const CollectiveRow* row = collective_named(name);
  return row != nullptr ? std::optional(row->kind) : std::nullopt;
}

Result<Bytes> parse_size(const std::string& text) {
  if (text.empty()) return parse_bytes(text);
  const bool digit = text.back() >= '0' && text.back() <= '9';
  const bool prefix = std::string_view("KMG").find(text.back()) != std::string_view::npos;
  return parse_bytes(digit ? text + "B" : prefix ? text + "iB" : text);
}

std::function<std::string(const std::string&)> number_between(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = code == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    if (number && value >= least && value <= most) return "";
    return fmt::format("`{}` is not a number from {} to {}", text, least, most);
  };
}

std::string engine_problem(const std::string& text) {
  Names names;
  for (const sim::EngineRow& row : sim::engines) names.emplace_back(row.name);
  return not_one_of(text, "engine", names);
}

std::string seed_problem(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (code == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("`{}` is not a seed; expected a whole number from 0 to {}", text,
                     std::numeric_limits<std::uint64_t>::max());
}

std::string size_problem(const std::string& text) {
  const Result<Bytes> size = parse_size(text);
  if (!size.ok()) return fmt::format("`{}` is not a size; write one such as 64KiB, or 64K as nccl-tests does", text);
  constexpr Bytes most{64LL << 30};
  return *size > most ? fmt::format("{} is more than {}", text, to_string(most)) : "";
}

std::string memory_problem(std::int64_t bytes, int ranks) {
  constexpr Bytes most{scenarios::limits::payload_bytes};
  const double all = 2.0 * static_cast<double>(bytes) * ranks;
  if (all <= static_cast<double>(most.count)) return "";
  return fmt::format("{} ranks with {} of input and of output each need more than {} of memory", ranks,
                     to_string(Bytes{bytes}), to_string(most));
}

int status_of(const Error& error) {
  if (error.code == Code::unavailable) return exit_not_available;
  const bool input = error.code == Code::limit_exceeded || error.code == Code::invalid_argument;
  return input || error.code == Code::input_invalid ? exit_wrong_input : exit_failed;
}

}  // namespace pdsim::tools
