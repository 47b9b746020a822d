// Guesses the command line that a user meant when the first word is not a command: a program of nccl-tests, an error text, a file (by
// its ending, or because it exists) or a scenario of the catalog, in this order.
#pragma once

#include <string>

namespace pdsim::tools {

// Returns the command line to type instead, such as "pdsim diagnose job.log"; empty when nothing is likely. Reads the catalog's folder.
std::string likely_command(const std::string& word);

}  // namespace pdsim::tools
