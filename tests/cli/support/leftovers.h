// Whether a job has left anything on this machine: the one question of all tests that kill.
//
//   processes   children of the test (see Running), and every other process that has the job's folder in its environment, whatever it calls it
//   files       below the job's folder, which is where temporary files go that have TMPDIR, Open MPI's session folder among them
//   ports       TCP sockets that listen, of IPv4 and IPv6
//   memory      segments and folders in /dev/shm (POSIX; Open MPI's vader and psm; ours for MPI without TMPDIR) and of System V
//
// Ports and segments that were there before are not the job's, nor those of a running process without the job's folder: other tests
// may run beside. One that nobody holds is.
#pragma once

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace pdsim::cli_tests {

class Leftovers {
 public:
  Leftovers();  // before the job starts

  // One line for each; empty when nothing is left. `keeps`: files that shall be there.
  std::vector<std::string> now(const Folder& folder, const std::vector<std::string>& keeps = {}) const;
  // The same within ten seconds: a process that ends with a command needs a moment for it.
  testing::AssertionResult none_of(const Folder& folder, const std::vector<std::string>& keeps = {}) const;

 private:
  std::set<std::string> ports_, segments_;
};

}  // namespace pdsim::cli_tests
