// The flags of pdsim bench, and the values derived from them.
#pragma once

#include "core/measure/timing.h"
#include "tools/flags/nccl_tests_flags.h"
#include "tools/flags/trial_flags.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

struct BenchFlags {
  TrialFlags trial;
  NcclTestsFlags nccl_tests;
  std::string min = "1KiB", max = "4MiB";
  double factor = 4.0;
  std::string step;  // instead of the factor; empty: not given
  std::optional<int> iterations, warmup;
  int checks = 1;
  std::string root = "0";  // or all
  bool raw = false;
  int blocks = 10;
  std::string payload = "auto";
  CLI::Option* factor_option = nullptr;
};

void add_bench_flags(CLI::App& app, BenchFlags& flags);

// The first conflict between flags in `world`, in one line; empty: none.
std::string bench_conflict(const BenchFlags& flags, const scenarios::WorldRow& world, bool in_a_job);

// Whether the calls of this row move data: for `auto`, in the simulated world, if all ranks' input and output take up to 1 GiB.
bool moves_data(const BenchFlags& flags, const TimingRequest& request, std::int64_t count);

// A request for each dtype, operation and root that the flags name; combinations that the collective does not have are skipped.
std::vector<TimingRequest> bench_requests(const BenchFlags& flags, const scenarios::TrialAlgorithm& algorithm,
                                          bool simulated);

}  // namespace pdsim::tools
