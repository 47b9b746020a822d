// pdsim schema: the JSON schema of scenario files, for editors; or the same tables as a page for people.

#include "scenarios/language/loader.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace pdsim::tools {

Action declare_schema(CLI::App& app) {
  const auto markdown = std::make_shared<bool>(false);
  app.add_flag("--markdown", *markdown, "a page that lists every key, instead");
  return [markdown](Console& console) {
    console.print(*markdown ? scenarios::reference_page() : scenarios::json_schema());
    return exit_held;
  };
}

}  // namespace pdsim::tools
