#include "tests/guests/python.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace pdsim::guest_tests {
namespace {

// "2" of 2.14.1; empty: the interpreter has no torch.distributed.
std::string major_of(const std::string& python) {
  const std::string ask = python +
                          " -c 'import torch, torch.distributed; print(torch.__version__.split(\".\")[0])' "
                          "2>/dev/null";
  std::string said;
  if (FILE* pipe = popen(ask.c_str(), "r"); pipe != nullptr) {
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) said += static_cast<char>(c);
    pclose(pipe);
  }
  return said;
}

struct Python {
  std::string command;
  int major = 0;
};

Python find() {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* named = std::getenv("PDSIM_GUEST_PYTHON")) candidates = {named};
  for (const std::string& candidate : candidates)
    if (const std::string major = major_of(candidate); !major.empty())
      return {candidate, std::atoi(major.c_str())};
  return {};
}

const Python& python() {
  static const Python found = find();
  return found;
}

}  // namespace

const std::string& python_with_torch() { return python().command; }

int torch_major() { return python().major; }

bool python_is_named() { return std::getenv("PDSIM_GUEST_PYTHON") != nullptr; }

}  // namespace pdsim::guest_tests
