// The network interfaces of this machine, and what the variables of libraries say about them.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Those that have an address, each once, in the system's order.
std::vector<std::string> network_interfaces();

// "lo,eth0" taken apart; empty names are left out.
std::vector<std::string> names_in(std::string_view list);

// Whether NCCL takes `name` where NCCL_SOCKET_IFNAME is `list`: prefixes, or with = whole names, and with ^ all but those.
// Source: NCCL's user guide, environment variables.
bool nccl_takes_interface(std::string_view list, std::string_view name);

// unavailable: `variable` names `wanted`, which this machine does not have; lists what it has.
Error no_such_interface(std::string_view variable, std::string_view wanted);

}  // namespace pdsim
