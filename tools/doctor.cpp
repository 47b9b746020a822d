// pdsim doctor: which worlds work on this machine.

#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace pdsim::tools {

Action declare_doctor(CLI::App&) {
  return [](Console& console) {
    console.print(fmt::format("pdsim {}\nsim   works\n", PDSIM_VERSION));
    return exit_held;
  };
}

}  // namespace pdsim::tools
