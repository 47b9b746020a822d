// Completes a command line of pdsim from the tables that the commands themselves use.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pdsim::tools {

// `words` are those after `pdsim`, the last one being typed and perhaps empty. Returns the valid words in its place that begin
// with it: commands, options, and the values of options and positionals that come from a table, a scenario or a folder (its folders end with /);
// sorted, each once. Empty where any text or file is valid.
std::vector<std::string> words_to_complete(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace pdsim::tools
