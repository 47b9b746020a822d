// Loading the scenario files that a command line names, with every problem told.
#pragma once

#include "scenarios/language/loader.h"
#include "tools/console/console.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Which diagnostics of files without an error are told.
enum class Warnings : std::uint8_t { told, left_out };

// Finds and loads every argument. Problems and warnings go to the console's problems; nothing when any file has an error.
std::optional<std::vector<scenarios::LoadedFile>> load_all(const std::vector<std::string>& arguments, Console& console,
                                                           Warnings warnings = Warnings::told);

// What was found of one argument.
struct Checked {
  std::string argument;
  std::optional<scenarios::LoadedFile> file;  // absent: it cannot be read
  std::string problem;                        // why
};
std::vector<Checked> check_all(const std::vector<std::string>& arguments);

// The variants called `name`, or all of them when it is empty. Null, and the problem told, when there is none.
std::optional<std::vector<const scenarios::Scenario*>> select_variants(const scenarios::LoadedFile& file,
                                                                       std::string_view name, Console& console);

}  // namespace pdsim::tools
