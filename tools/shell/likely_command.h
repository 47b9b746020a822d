// Guesses the command line that a user meant when the first word is not a command: a program of nccl-tests, an error text, a file (by
// its ending, or because it exists) or a scenario of the catalog, in this order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Returns the command line to type instead, such as "pdsim diagnose job.log"; empty when nothing is likely. Reads the catalog's folder.
std::string likely_command(const std::string& word);

// Says what a word is that is not for `command`, and which command takes it: "t.py is a script; use `pdsim run -n 2 -- python3 t.py`".
// Empty when nothing is likely, a file is not there, or it is `command` itself. Looks at files and the catalog's folder.
std::string better_command(const std::string& word, std::string_view command);

// The same for a word that may be the path of a plan: empty also for programs, and for files that are not there.
std::string better_command_than_a_plan(const std::string& path);

// Returns the sentence for command lines that do not begin with a command: what was typed and what was most likely meant, out of the
// `commands`, likely_command() and what `pdsim explain` knows; else where texts go, and the names of all commands.
std::string unknown_command(const std::vector<std::string>& words, std::span<const std::string_view> commands);

}  // namespace pdsim::tools
