// Values of options and positionals for completion: names of the tables that the commands themselves use, and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Returns the values of `option` (its first long name with --; empty: the positional) of a command. `words` are those of the command
// line, the last one being typed: files and folders are listed where it points, and the variants are those of the scenario among the
// words. Unsorted; may hold values that do not begin with what is typed. Empty where any text or file is valid.
std::vector<std::string> values_to_complete(std::string_view command, std::string_view option,
                                            const std::vector<std::string>& words);

}  // namespace pdsim::tools
