// The values that a lab's answers are compared with: computed from runs and shapes on request.
#pragma once

#include "core/base/result.h"
#include "scenarios/diagnosis/report.h"
#include "scenarios/language/loader.h"

#include <filesystem>
#include <memory>
#include <string>

namespace pdsim::tools {

// A run of the simulated world, with its scenario.
struct LabRun {
  std::shared_ptr<scenarios::LoadedFile> file;
  std::shared_ptr<scenarios::Scenario> scenario;
  scenarios::Report report;
};
Result<LabRun> run_lab(std::shared_ptr<scenarios::LoadedFile> file, const scenarios::Scenario& scenario,
                       const std::string& strategy = "fifo");

// The scenario of the catalog whose name has the hash `of` and whose "name/variant" has `hash` (16 hexadecimal digits of FNV-1a).
Result<LabRun> run_hidden(const std::string& of, const std::string& hash);

// The answer to a question of lab.json (JSON), in the form used for comparison: words and numbers, one space between them.
Result<std::string> fact_of(const std::string& question, const std::filesystem::path& folder);

// An answer normalised for comparison: lower case, one space between words, lists of ranks in order.
std::string compared(const std::string& answer);

}  // namespace pdsim::tools
