// Loading: text -> located tree -> Scenario per variant, or every error of the file at once.
//
//   levels   syntax (yaml-cpp), shape (keys, types, units), meaning (ranks in range, paths name layers, labels unique
//            ...)
//   errors   all of them, up to limits::diagnostics, each with place, problem, a caret and the correct form; an error of YAML
//            ends the reading. Warnings do not stop a run
//   limits   listed in limits.h; a file over a limit is an error before anything is allocated for it
//   throws   nothing
#pragma once

#include "core/base/result.h"
#include "scenarios/language/scenario.h"
#include "scenarios/text/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct LoadedFile {
  std::string file;
  std::string text;
  std::vector<Scenario> variants;       // in file order; empty when there are errors
  std::vector<Diagnostic> diagnostics;  // errors and warnings, by position
  int errors = 0;
};

// Reads and checks `path`. io_error when it cannot be read; everything else is in diagnostics.
Result<LoadedFile> load_file(const std::string& path);
LoadedFile load_text(std::string file, std::string text);

// The file with a variant's settings applied, as YAML text (`pdsim check --variant V --print`).
std::string effective_document(const LoadedFile& file, std::string_view variant);

// The rank x step table (`pdsim check --table`).
std::string program_table(const Scenario& scenario);
// An operation as a line of that table: "all_reduce {count: 4}  (label)".
std::string operation_text(const Operation& op);

inline std::string render(const LoadedFile& file, const Diagnostic& diagnostic) {
  return render(file.file, file.text, diagnostic);
}

// The JSON schema for editors, generated from the tables the loader uses.
std::string json_schema();

// The same tables as a page of documentation, in Markdown.
std::string reference_page();

}  // namespace pdsim::scenarios
