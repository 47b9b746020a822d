// pdsim schema: the JSON schema of scenario files, for editors.

#include "scenarios/engine/loader.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>

namespace pdsim::tools {

Action declare_schema(CLI::App&) {
  return [](Console& console) {
    console.print(scenarios::json_schema());
    return exit_held;
  };
}

}  // namespace pdsim::tools
