// Runs scenario files as `pdsim scenario` does, for other commands that are given some.
#pragma once

#include "core/base/random.h"
#include "tools/command.h"
#include "tools/worlds/join.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

struct ScenarioOptions {
  std::vector<std::string> files;
  std::string variant;
  std::optional<std::uint64_t> seed;
  std::string on = "sim";
  std::string strategy = "fifo";
  std::string engine = "auto";
  std::string patience = "10s";
  JoinFlags join;
  std::string out;
  std::function<std::int64_t(Random&)> disturb;  // sim::RunOptions::disturb
  bool check_determinism = false, quiet = false, json = false;
};

// Runs the files, or scenarios of the catalog, and prints their reports and problems. Returns the exit status.
int run_scenario_files(const ScenarioOptions& options, Console& console);

}  // namespace pdsim::tools
