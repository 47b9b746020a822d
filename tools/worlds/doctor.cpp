// pdsim doctor: which worlds work on this machine, what the others lack, and what each library does itself.

#include "backends/availability.h"
#include "scenarios/guests/interpreter.h"
#include "tools/command.h"
#include "tools/console/capability_tables.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace pdsim::tools {
namespace {

std::string line_of(std::string_view world, const Availability& here) {
  const std::string version = here.version.empty() ? "" : ", " + here.version;
  return fmt::format("{:<5} {}\n", world, here.yes ? "works" + version : "not available: " + here.reason);
}

// Of `pdsim run`, which needs an interpreter with PyTorch.
std::string line_of_scripts() {
  std::string without;
  for (const std::string_view program : scenarios::guests::usual_interpreters) {
    const scenarios::guests::Interpreter found = scenarios::guests::interpreter(std::string(program));
    if (!found.torch.empty())
      return fmt::format("run   works, {} (Python {}) has PyTorch {}{}\n", found.path, found.python, found.torch,
                         without.empty() ? "" : "; " + without + " has none");
    if (!found.path.empty() && without.empty()) without = fmt::format("{} (Python {})", found.path, found.python);
  }
  return fmt::format("run   not available: {}; apt-get install python3-torch, or pip install torch\n",
                     without.empty() ? "there is no python3" : without + " has no PyTorch");
}

}  // namespace

Action declare_doctor(CLI::App&) {
  return [](Console& console) {
    console.print("pdsim " PDSIM_VERSION "\n" + line_of("sim", {true, "", ""}));
    for (const RealWorldRow& world : real_worlds()) console.print(line_of(world.name, world.available()));
    console.print(line_of_scripts());
    console.print("\n" + capability_tables());
    return exit_held;
  };
}

}  // namespace pdsim::tools
