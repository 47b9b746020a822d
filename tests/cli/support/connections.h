// The TCP connections of running processes, for tests that cut them.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdsim::cli_tests {

// Shuts down the first established TCP connection between two of `processes` over which more than `bytes` have gone, as a network
// that breaks would: both ends find it closed. False: there is none yet, or this system forbids it, which of
// this process alone it never does.
bool cut_a_connection(const std::vector<pid_t>& processes, std::uint64_t bytes);

// Whether this process may take a descriptor of a child of its own (pidfd_getfd: Linux 5.6, ptrace).
bool can_cut();

}  // namespace pdsim::cli_tests
