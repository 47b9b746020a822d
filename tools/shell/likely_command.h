// What was meant by a first word that is no command: a file, a scenario of the catalog, an error text, or a program of nccl-tests.
#pragma once

#include <string>

namespace pdsim::tools {

// The command line to type instead: "pdsim diagnose job.log". Empty where the word says nothing.
std::string likely_command(const std::string& word);

}  // namespace pdsim::tools
