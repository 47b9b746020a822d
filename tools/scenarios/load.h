// Loads the scenario files that a command line names, and reports every problem.
#pragma once

#include "scenarios/language/loader.h"
#include "tools/console/console.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// The diagnostics that are reported for files without an error.
enum class Warnings : std::uint8_t { told, left_out };

// Finds and loads every argument. Problems and warnings go to the console's problems; nothing when any file has an
// error.
std::optional<std::vector<scenarios::LoadedFile>> load_all(const std::vector<std::string>& arguments, Console& console,
                                                           Warnings warnings = Warnings::told);

// The result for one argument.
struct Checked {
  std::string argument;
  std::optional<scenarios::LoadedFile> file;  // absent: it cannot be read
  std::string problem;                        // why it cannot be read
};
std::vector<Checked> check_all(const std::vector<std::string>& arguments);

// The variants called `name`, or all of them when it is empty. Nothing when there is none, and the problem is reported.
std::optional<std::vector<const scenarios::Scenario*>> select_variants(const scenarios::LoadedFile& file,
                                                                       std::string_view name, Console& console);

}  // namespace pdsim::tools
