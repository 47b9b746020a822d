// What may follow on a command line of pdsim, from the tables that the commands themselves use.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pdsim::tools {

// `words` are those after `pdsim`, the last one being typed and perhaps empty. Gives the words that may stand in its place and begin with
// it: commands, options, and the values of options and positionals that come from a table; sorted, each once. Empty where anything may
// stand, such as a path.
std::vector<std::string> words_to_complete(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace pdsim::tools
