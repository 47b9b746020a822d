#include "tests/cli/support/survivors.h"

#include <cerrno>
#include <fstream>
#include <poll.h>
#include <string>
#include <sys/wait.h>

namespace pdsim::cli_tests {

std::vector<pid_t> children_of(pid_t process) {
  const std::string number = std::to_string(process);
  std::ifstream list("/proc/" + number + "/task/" + number + "/children");
  std::vector<pid_t> pids;
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

std::vector<pid_t> below(pid_t process, const std::string& word) {
  std::vector<pid_t> found;
  for (const pid_t child : children_of(process)) {
    std::ifstream file("/proc/" + std::to_string(child) + "/cmdline");
    std::string line, part;
    while (std::getline(file, part, '\0')) line += " " + part;
    if (line.find(word) != std::string::npos) found.push_back(child);
    const std::vector<pid_t> deeper = below(child, word);
    found.insert(found.end(), deeper.begin(), deeper.end());
  }
  return found;
}

bool soon(const std::function<bool()>& holds) {
  constexpr int tries = 1000, pause_ms = 10;
  for (int i = 0; i < tries; ++i) {
    if (holds()) return true;
    poll(nullptr, 0, pause_ms);
  }
  return false;
}

bool no_child_left() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

}  // namespace pdsim::cli_tests
