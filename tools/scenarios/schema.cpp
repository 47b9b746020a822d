// pdsim schema: the JSON schema of scenario files, for editors, and that of what --json prints; or the same tables as pages for people.

#include "scenarios/language/loader.h"
#include "tools/command.h"
#include "tools/json/json_forms.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace pdsim::tools {

Action declare_schema(CLI::App& app) {
  struct Options {
    bool markdown = false, output = false, json = false;
  };
  const auto options = std::make_shared<Options>();
  app.add_flag("--output", options->output, "of what commands print with --json, instead");
  CLI::Option* markdown = app.add_flag("--markdown", options->markdown, "a page for people, instead");
  app.add_flag("--json", options->json, "the schema itself, which is JSON; as without this flag")->excludes(markdown);
  return [options](Console& console) {
    if (options->output)
      console.print(options->markdown ? json_output_page() : json_output_schema());
    else
      console.print(options->markdown ? scenarios::reference_page() : scenarios::json_schema());
    return exit_held;
  };
}

}  // namespace pdsim::tools
