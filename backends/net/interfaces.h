// The network interfaces of this machine, and the variables by which libraries choose among them.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Interfaces with an address, each once, in the system's order.
std::vector<std::string> network_interfaces();

// Splits "lo,eth0"; empty names are left out.
std::vector<std::string> names_in(std::string_view list);

// Whether NCCL uses `name` where NCCL_SOCKET_IFNAME is `list`: prefixes, or with = whole names, and with ^ all but those. Source:
// NCCL's user guide, environment variables.
bool nccl_takes_interface(std::string_view list, std::string_view name);

// unavailable: `variable` names `wanted`, which this machine does not have; lists those it has.
Error no_such_interface(std::string_view variable, std::string_view wanted);

}  // namespace pdsim
