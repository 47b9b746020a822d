#include "tests/guests/python.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace pdsim::guest_tests {
namespace {

// Looks at the files of torch and does not import it, which takes a second of processor time: every test asks.
constexpr const char* ask = R"(
import importlib.util, os
folder = os.path.dirname(importlib.util.find_spec("torch").origin)
os.stat(os.path.join(folder, "distributed"))
version = {}
exec(open(os.path.join(folder, "version.py")).read(), version)
print(*version["__version__"].split(".")[:2])
)";

// "2 14" of 2.14.1; empty: the interpreter has no torch.distributed.
std::string version_of(const std::string& python) {
  std::string said;
  if (FILE* pipe = popen((python + " -c '" + ask + "' 2>/dev/null").c_str(), "r"); pipe != nullptr) {
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) said += static_cast<char>(c);
    pclose(pipe);
  }
  return said;
}

struct Python {
  std::string command;
  std::pair<int, int> version;
};

// The system's first: a python3 of PATH may be a script that looks for one, which takes longer than the answer.
Python find() {
  std::vector<std::string> candidates{"/usr/bin/python3", "python3"};
  if (const char* named = std::getenv("PDSIM_GUEST_PYTHON")) candidates = {named};
  for (const std::string& candidate : candidates)
    if (const std::string version = version_of(candidate); !version.empty())
      return {candidate, {std::atoi(version.c_str()), std::atoi(version.c_str() + version.find(' '))}};
  return {};
}

const Python& python() {
  static const Python found = find();
  return found;
}

}  // namespace

const std::string& python_with_torch() { return python().command; }

std::pair<int, int> torch_version() { return python().version; }

bool python_is_named() { return std::getenv("PDSIM_GUEST_PYTHON") != nullptr; }

}  // namespace pdsim::guest_tests
