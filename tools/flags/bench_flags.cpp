#include "tools/flags/bench_flags.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/reduce.h"
#include "core/group/raw_caller.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>

namespace pdsim::tools {
namespace {

constexpr double most_sizes = 10'000;

std::int64_t bytes_of(const std::string& size) { return parse_size(size).value().count; }

// Ascending; each size once, rounded down to whole parts.
std::vector<std::int64_t> counts_of(const BenchFlags& flags, CollectiveKind kind, DType dtype) {
  if (!row(kind).has_input) return {0};
  std::vector<std::int64_t> counts;
  const auto most = static_cast<double>(bytes_of(flags.max));
  const double step = flags.step.empty() ? 0.0 : static_cast<double>(bytes_of(flags.step));
  auto bytes = static_cast<double>(bytes_of(flags.min));
  while (bytes <= most) {
    const auto elements = static_cast<std::int64_t>(bytes) / static_cast<std::int64_t>(size_of(dtype));
    const std::int64_t count = count_of_total(kind, elements, flags.trial.ranks);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    if (step > 0.0)
      bytes += step;
    else
      bytes = bytes == 0.0 ? 1.0 : bytes * flags.factor;
  }
  return counts;
}

std::string root_problem(const std::string& text) {
  int root = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), root);
  const bool number = code == std::errc() && end == text.data() + text.size() && root >= 0;
  return number || text == "all" ? "" : fmt::format("`{}` is not a rank; write a number from 0, or all", text);
}

std::vector<Rank> roots_of(const BenchFlags& flags, CollectiveKind kind) {
  if (!row(kind).rooted) return {0};
  if (flags.root != "all") return {std::stoi(flags.root)};
  std::vector<Rank> roots;
  for (Rank root = 0; root < flags.trial.ranks; ++root) roots.push_back(root);
  return roots;
}

std::vector<DType> dtypes_of(const BenchFlags& flags) {
  if (const auto dtype = dtype_of(flags.trial)) return {*dtype};
  std::vector<DType> all;
  for (const DTypeRow& row : dtypes) all.push_back(row.dtype);
  return all;
}

std::vector<ReduceOp> ops_of(const BenchFlags& flags, CollectiveKind kind) {
  if (!row(kind).reduces) return {ReduceOp::sum};
  if (const auto op = op_of(flags.trial)) return {*op};
  std::vector<ReduceOp> all;
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) all.push_back(static_cast<ReduceOp>(i));
  return all;
}

void add_sizes(CLI::App& app, BenchFlags& flags) {
  app.add_option("-b,--min,--minbytes", flags.min, "smallest size")->check(size_problem)->capture_default_str();
  app.add_option("-e,--max,--maxbytes", flags.max, "largest size")->check(size_problem)->capture_default_str();
  flags.factor_option = app.add_option("-f,--factor,--stepfactor", flags.factor, "from one size to the next")
                            ->check(number_between(1.01, 1e6), "FLOAT in [1.01 - 1e+06]")
                            ->capture_default_str();
  app.add_option("-i,--step,--stepbytes", flags.step, "from one size to the next, instead of a factor")
      ->check(size_problem);
}

std::string size_conflict(const BenchFlags& flags) {
  if (bytes_of(flags.min) > bytes_of(flags.max))
    return fmt::format("--min {} is greater than --max {}", flags.min, flags.max);
  if (flags.step.empty()) return "";
  if (flags.factor_option->count() > 0) return "--factor and --step exclude each other; use one of them";
  const auto step = static_cast<double>(bytes_of(flags.step));
  if (step <= 0.0) return "--step must be greater than 0B";
  if (static_cast<double>(bytes_of(flags.max) - bytes_of(flags.min)) / step > most_sizes)
    return fmt::format("--step {} gives more than {} sizes; use a larger one, or --factor", flags.step, most_sizes);
  return "";
}

}  // namespace

void add_bench_flags(CLI::App& app, BenchFlags& flags) {
  flags.trial.collective = "all_reduce";
  flags.trial.algorithm = "auto";
  flags.trial.dtype = "f32";
  flags.trial.op = "sum";
  add_trial_flags(app, flags.trial);
  add_sizes(app, flags);
  app.add_option("-n,--iters", flags.iterations, "timed calls of each size; default: 20, simulated 1")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("-w,--warmup,--warmup_iters", flags.warmup, "untimed calls before them; default: 5, simulated 0")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("-c,--check", flags.checks, "checked calls before those; 0: nothing is checked")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-r,--root", flags.root, "of rooted collectives: a rank, or all")
      ->check(root_problem)
      ->capture_default_str();
  app.add_flag(
      "--raw", flags.raw,
      "time the library's own functions too, called directly, alternating with ours; times are medians of blocks");
  app.add_option("--blocks", flags.blocks, "with --raw: how many blocks of --iters calls of each")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--payload", flags.payload, "real, none: sizes only (simulated world), or auto: real for sizes with up to 1GiB of data on all ranks")
      ->check(CLI::IsMember({"auto", "real", "none"}))
      ->capture_default_str();
  add_nccl_tests_flags(app, flags.nccl_tests);
}

std::string bench_conflict(const BenchFlags& flags, const scenarios::WorldRow& world, bool in_a_job) {
  if (std::string problem = size_conflict(flags); !problem.empty()) return problem;
  const bool simulated = world.kind == scenarios::WorldKind::simulated;
  if (flags.root != "all" && std::stoi(flags.root) >= flags.trial.ranks)
    return fmt::format("root {} is not a rank: there are {}", flags.root, flags.trial.ranks);
  if (flags.raw && simulated)
    return "--raw calls a library directly, and the simulated world has none; name one with --on";
  if (flags.raw && flags.nccl_tests.average)
    return "--raw compares averages over the ranks; remove --average";
  if (flags.payload == "none" && !simulated)
    return "--payload none moves only sizes, which only the simulated world can do";
  if (simulated && flags.payload != "real") return "";
  const std::string problem = memory_problem(bytes_of(flags.max), in_a_job ? 1 : flags.trial.ranks);
  return problem.empty() ? "" : problem + "; only the simulated world times sizes without data (--on sim, without --payload real)";
}

bool moves_data(const BenchFlags& flags, const TimingRequest& request, std::int64_t count) {
  if (flags.payload != "auto") return flags.payload == "real";
  constexpr double most_data = 1LL << 30;  // of all ranks; more takes minutes to compute
  const std::int64_t elements = total_elements(request.kind, count, flags.trial.ranks);
  return 2.0 * static_cast<double>(elements) * static_cast<double>(size_of(request.dtype)) * flags.trial.ranks <= most_data;
}

std::vector<TimingRequest> bench_requests(const BenchFlags& flags, const scenarios::TrialAlgorithm& algorithm,
                                          bool simulated) {
  using namespace literals;
  TimingRequest request;
  request_algorithm(request, algorithm);
  request.moves_data = flags.payload != "none";
  request.iterations = flags.iterations.value_or(simulated ? 1 : 20);
  request.warmup = flags.warmup.value_or(simulated ? 0 : 5);
  request.checks = flags.checks;
  request.blocks = flags.blocks;
  request.timeout = flags.nccl_tests.timeout().value_or(request.timeout);
  if (simulated) request.align = 1_s;
  std::vector<TimingRequest> requests;
  for (const DType dtype : dtypes_of(flags))
    for (const ReduceOp op : ops_of(flags, request.kind)) {
      if (row(request.kind).reduces && !supports(op, dtype)) continue;
      request.dtype = dtype;
      request.op = op;
      request.counts = counts_of(flags, request.kind, dtype);
      const std::string& world = flags.trial.on;
      const bool raw = flags.raw && raw_problem(world, request.kind, dtype, op).empty();
      request.raw_forms = raw ? static_cast<int>(raw_functions(world, request.kind).size()) : 0;
      for (const Rank root : roots_of(flags, request.kind)) {
        request.root = root;
        requests.push_back(request);
      }
    }
  return requests;
}

}  // namespace pdsim::tools
