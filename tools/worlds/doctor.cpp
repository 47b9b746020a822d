// pdsim doctor: which worlds work on this machine, what the others lack, and what each library does itself.

#include "backends/availability.h"
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

}  // namespace

Action declare_doctor(CLI::App&) {
  return [](Console& console) {
    console.print("pdsim " PDSIM_VERSION "\n" + line_of("sim", {true, "", ""}));
    for (const RealWorldRow& world : real_worlds()) console.print(line_of(world.name, world.available()));
    console.print("\n" + capability_tables());
    return exit_held;
  };
}

}  // namespace pdsim::tools
