// Who is still there after a command: for tests that kill.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdsim::cli_tests {

std::vector<pid_t> children_of(pid_t process);

// All below it whose command line holds `word`.
std::vector<pid_t> below(pid_t process, const std::string& word);

// Holds within ten seconds: a process that ends with the command needs a moment for it.
bool soon(const std::function<bool()>& holds);

// Reaps those that the command left to the test (see Running); true when none runs any more.
bool no_child_left();

}  // namespace pdsim::cli_tests
