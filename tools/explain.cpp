// pdsim explain: the long text of an error code.

#include "core/base/errors.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

namespace pdsim::tools {

Action declare_explain(CLI::App& app) {
  const auto id = std::make_shared<std::string>();
  app.add_option("ID", *id, "an error code, as reports print it")->required();
  return [id](Console& console) -> int {
    if (const std::optional<Code> code = code_named(*id)) {
      const ErrorRow& row = error_table[static_cast<std::size_t>(*code)];
      console.print(fmt::format("{}: {}\n", row.name, row.sentence));
      return exit_held;
    }
    console.problem(fmt::format("nothing is called `{}`; `pdsim list --what errors` shows the names", *id));
    return exit_wrong_input;
  };
}

}  // namespace pdsim::tools
