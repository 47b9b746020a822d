// Several `pdsim run` of a suite's cases, made at once before its first case: one interpreter, which imports torch once, forks the ranks
// of all (tests/helpers/scripts_in_turn.cpp). The script of each is train.py in a folder of its own.
#pragma once

#include "tests/cli/support/program.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pdsim::guest_tests {

struct ScriptRun {
  std::string script;  // its text
  int ranks = 0;       // 0: it starts them itself
  std::string world;   // text of a world's file; empty: the usual one
  bool saves = false;  // --save saved_calls.yaml
  bool writes = false; // --out out
};

class ScriptsInTurn {
 public:
  // By the name of a case's parameter; runs all of them. A run that ends the others' process leaves those without a status: 127.
  explicit ScriptsInTurn(const std::map<std::string, ScriptRun>& runs);

  const cli_tests::Ended& ended(const std::string& name) const { return ended_.at(name); }
  // With its train.py, and what its run left.
  std::filesystem::path folder_of(const std::string& name) const { return folder_.path() / "jobs" / name / "files"; }

 private:
  cli_tests::Folder folder_;
  std::map<std::string, cli_tests::Ended> ended_;
};

// The parameters' names of the cases that are run of the current suite: what follows the '/' in theirs. For SetUpTestSuite().
std::vector<std::string> parameters_to_run();

}  // namespace pdsim::guest_tests
