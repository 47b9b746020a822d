// The properties of this machine that affect a job of several processes, as they are now.
//
//   cost     milliseconds; the name of the host is looked up, which may ask a name server
//   errors   none: a property that cannot be read is left empty or zero, as its comment says
//   source   getifaddrs(3), getrlimit(2), statvfs(3), adjtimex(2), uname(2)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {

struct NetworkInterface {
  std::string name;
  std::vector<std::string> addresses;  // IPv4 and IPv6 in text; without link-local ones
  bool up = false;
  bool loopback = false;
};

struct Machine {
  std::string host;                             // its name
  std::vector<std::string> host_addresses;      // what the name resolves to; empty: it does not
  std::optional<std::vector<std::string>> master_addresses;  // what MASTER_ADDR resolves to, where it is set
  std::vector<NetworkInterface> interfaces;     // in the system's order
  std::uint64_t open_files = 0;                 // soft limits; of every kind, max() means unlimited
  std::uint64_t locked_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t shared_bytes = 0, shared_free = 0;  // of /dev/shm; zero: there is none
  std::optional<bool> clock_synchronised;       // empty: the kernel does not say
  std::uint64_t memory_bytes = 0;
  int cores = 0;                                // available to this process
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> variables;  // those that libraries and launchers read, sorted
};

Machine this_machine();

}  // namespace pdsim
