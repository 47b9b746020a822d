// pdsim explain: the long text of a diagnosis or an error code.

#include "core/base/errors.h"
#include "core/base/nearest.h"
#include "scenarios/engine/diagnoses.h"
#include "scenarios/engine/error_texts.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

namespace {

std::string unknown(std::string_view id) {
  std::vector<std::string_view> names;
  for (const scenarios::DiagnosisRow& row : scenarios::diagnosis_table) names.push_back(row.id);
  for (const ErrorRow& row : error_table) names.push_back(row.name);
  if (const auto close = nearest(id, std::span<const std::string_view>(names)))
    return fmt::format("nothing is called `{}`; did you mean `pdsim explain {}`?", id, *close);
  return fmt::format("nothing is called `{}`; `pdsim list --what diagnoses` and `--what errors` show the names", id);
}

}  // namespace

Action declare_explain(CLI::App& app) {
  const auto id = std::make_shared<std::string>();
  app.add_option("ID", *id, "a diagnosis or an error code, as reports print it")->required();
  return [id](Console& console) -> int {
    if (const scenarios::DiagnosisRow* row = scenarios::diagnosis_named(*id)) {
      console.print(fmt::format("{}: {}\n\n{}\n", row->id, row->title, *row->text));
      return exit_held;
    }
    if (const std::optional<Code> code = code_named(*id)) {
      const ErrorRow& row = error_table[static_cast<std::size_t>(*code)];
      console.print(fmt::format("{}: {}\n\n{}\n", row.name, row.sentence, scenarios::text_of(*code)));
      return exit_held;
    }
    console.problem(unknown(*id));
    return exit_wrong_input;
  };
}

}  // namespace pdsim::tools
