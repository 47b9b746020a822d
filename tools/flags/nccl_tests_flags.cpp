#include "tools/flags/nccl_tests_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace pdsim::tools {
namespace {

// A flag whose values but these would change what is measured in a way that pdsim does not have.
struct Unused {
  const char* names;
  std::string_view flag;  // as the refusal calls it
  std::string_view taken;  // one value a character: those that mean what pdsim does anyway
  std::string_view instead;
};
constexpr std::array unused_flags{
    Unused{"-m,--agg_iters", "-m", "1", "pdsim does not aggregate calls into one launch; remove it"},
    Unused{"-z,--blocking", "-z", "1", "pdsim waits for every call, as `-z 1` does; remove it"},
    Unused{"-y,--stream_null", "-y", "0", "pdsim calls the library on a stream of its own; remove it"},
    Unused{"-p,--parallel_init", "-p", "01", "ranks are processes and join at the same time; remove it"},
    Unused{"-G,--cudagraph", "-G", "0", "pdsim does not capture CUDA graphs; remove it"},
    Unused{"-C,--report_cputime", "-C", "0",
           "pdsim reports how long a call takes; with --json, the simulator's processor time is `cpu_s`"},
    Unused{"-R,--local_register", "-R", "0", "pdsim does not register buffers; remove it"},
    Unused{"-N,--run_cycles", "-N", "1", "pdsim prints each table once; run the command again"},
    Unused{"-S,--report_timestamps", "-S", "0", "rows have no time of day; pipe the output through `ts`"},
    Unused{"-M,--memory_report", "-M", "0", "with --json, `peak_rss_bytes` is the memory of this process"},
    Unused{"-J,--output_file", "-J", "", "print the rows as JSON and redirect them: `pdsim bench --json > FILE`"},
    Unused{"-D,--device_implementation", "-D", "0", "pdsim calls the library from the host; remove it"},
    Unused{"-V,--device_cta_count", "-V", "", "pdsim calls the library from the host; remove it"},
    Unused{"-x,--cta_policy", "-x", "0", "set NCCL_CTA_POLICY in the environment of the ranks"},
};

using Alias = std::pair<std::string_view, std::string_view>;
constexpr std::array dtype_aliases{
    Alias{"int8", "i8"},   Alias{"uint8", "u8"}, Alias{"int32", "i32"},  Alias{"int64", "i64"},
    Alias{"half", "f16"},  Alias{"float", "f32"}, Alias{"double", "f64"}, Alias{"bfloat16", "bf16"},
};
constexpr std::array op_aliases{Alias{"prod", "product"}};

template <class Aliases>
std::string alias_or(const std::string& word, const Aliases& aliases) {
  for (const auto& [theirs, ours] : aliases)
    if (theirs == word) return std::string(ours);
  return word;
}

}  // namespace

std::optional<Time> NcclTestsFlags::timeout() const {
  if (!timeout_s) return std::nullopt;
  return Time{static_cast<std::int64_t>(*timeout_s * 1e12)};
}

void add_nccl_tests_flags(CLI::App& app, NcclTestsFlags& flags) {
  const char* group = "As nccl-tests has them";
  app.add_option("-g,--ngpus", flags.gpus, "ranks, times -t; in a job, where each rank is a process, 1")
      ->check(CLI::Range(1, 1 << 20))
      ->group(group);
  app.add_option("-t,--nthreads", flags.threads, "ranks, times -g; in a job 1")
      ->check(CLI::Range(1, 1 << 20))
      ->group(group);
  app.add_option("-a,--average", flags.average,
                 "the time shown: 0 rank 0's, 1 the ranks' average, 2 the fastest rank's, 3 the slowest rank's")
      ->check(CLI::Range(0, 3))
      ->group(group);
  app.add_option("-T,--timeout", flags.timeout_s, "of a call, in seconds")
      ->check(number_between(0.001, 1e6), "FLOAT in [0.001 - 1e+06]")
      ->group(group);
  flags.unused.resize(unused_flags.size());
  for (std::size_t i = 0; i < unused_flags.size(); ++i)
    app.add_option(unused_flags[i].names, flags.unused[i])->group("");
}

std::string take_nccl_tests_flags(const NcclTestsFlags& flags, bool in_a_job, TrialFlags& trial) {
  for (std::size_t i = 0; i < unused_flags.size(); ++i) {
    const Unused& row = unused_flags[i];
    const std::string& given = flags.unused[i];
    const bool same = given.size() == 1 && row.taken.find(given) != std::string_view::npos;
    if (!given.empty() && !same) return fmt::format("{} {}: {}", row.flag, given, row.instead);
  }
  if (!flags.threads && !flags.gpus) return "";
  const std::int64_t ranks = std::int64_t{flags.threads.value_or(1)} * flags.gpus.value_or(1);
  const std::string named = fmt::format("-t {} -g {}", flags.threads.value_or(1), flags.gpus.value_or(1));
  if (in_a_job)
    return ranks == 1 ? ""
                      : fmt::format("{}: in a job every rank is a process of its own; start {} times as many processes",
                                    named, ranks);
  if (trial.ranks_option->count() > 0 && trial.ranks != ranks)
    return fmt::format("{} asks for {} ranks and --ranks for {}; remove one of them", named, ranks, trial.ranks);
  if (ranks > 1 << 20) return fmt::format("{}: {} ranks are more than {}", named, ranks, 1 << 20);
  trial.ranks = static_cast<int>(ranks);
  return "";
}

std::string dtype_of_nccl_tests(const std::string& word) { return alias_or(word, dtype_aliases); }
std::string op_of_nccl_tests(const std::string& word) { return alias_or(word, op_aliases); }

}  // namespace pdsim::tools
