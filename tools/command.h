// A subcommand of pdsim: one file each, one row in the table of main.cpp.
#pragma once

#include "tools/console/console.h"

#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace pdsim::tools {

// The exit statuses that scripts rely on.
enum Exit : int {
  exit_held = 0,           // every expectation held
  exit_did_not_hold = 1,   // some did not hold
  exit_wrong_input = 2,    // a file, flag or value is wrong, and nothing was run
  exit_not_available = 3,  // the world is not available here
  exit_failed = 4,         // pdsim itself failed, or was not deterministic
};

// Runs the subcommand with its parsed arguments; returns the exit status.
using Action = std::function<int(Console&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view example;      // shown by --help
  Action (*declare)(CLI::App&);  // adds the arguments; the action owns their values
  bool hidden = false;           // started by pdsim itself
};

Action declare_bench(CLI::App& app);
Action declare_buckets(CLI::App& app);
Action declare_check(CLI::App& app);
Action declare_complete(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_diagnose(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_gallery(CLI::App& app);
Action declare_lab(CLI::App& app);
Action declare_launch(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_man(CLI::App& app);
Action declare_prove(CLI::App& app);
Action declare_rank(CLI::App& app);
Action declare_run(CLI::App& app);
Action declare_scenario(CLI::App& app);
Action declare_schema(CLI::App& app);
Action declare_validate(CLI::App& app);

}  // namespace pdsim::tools
