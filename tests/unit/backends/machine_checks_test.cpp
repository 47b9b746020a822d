// Whether a machine is fit, and which network each library takes.

#include "backends/net/machine_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace pdsim {
namespace {

Machine cluster_node() {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  Machine machine;
  machine.host = "node1";
  machine.host_addresses = {"10.0.0.1"};
  machine.interfaces = {{"lo", {"127.0.0.1", "::1"}, true, true}, {"eth0", {"10.0.0.1"}, true, false}};
  machine.open_files = 65536;
  machine.locked_bytes = machine.processes = unlimited;
  machine.shared_bytes = machine.shared_free = 64ULL << 30;
  machine.clock_synchronised = true;
  machine.memory_bytes = 512ULL << 30;
  machine.cores = 64;
  machine.kernel = "Linux 6.1";
  return machine;
}

std::string advice_on(const Machine& machine, std::string_view subject) {
  const auto checks = machine_checks(machine);
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const MachineCheck& c) { return c.subject == subject; });
  return found == checks.end() ? "no such check" : found->advice;
}

TEST(MachineChecks, HaveNoAdviceForAFitMachine) {
  for (const MachineCheck& check : machine_checks(cluster_node())) EXPECT_EQ(check.advice, "") << check.subject;
}

TEST(MachineChecks, AdviseWhereTheHostsNameLeadsNowhereOrToLoopback) {
  Machine machine = cluster_node();
  machine.host_addresses = {};
  EXPECT_NE(advice_on(machine, "name").find("does not resolve"), std::string::npos);
  machine.host_addresses = {"127.0.1.1"};
  EXPECT_NE(advice_on(machine, "name").find("GLOO_SOCKET_IFNAME"), std::string::npos);
  machine.variables = {{"GLOO_SOCKET_IFNAME", "eth0"}};
  EXPECT_EQ(advice_on(machine, "name"), "") << "Gloo was told";
}

TEST(MachineChecks, AdviseWhereAVariableNamesWhatTheMachineDoesNotHave) {
  Machine machine = cluster_node();
  machine.variables = {{"NCCL_SOCKET_IFNAME", "foo0"}};
  EXPECT_NE(advice_on(machine, "taken by").find("NCCL_SOCKET_IFNAME=foo0 names no interface of this machine, which has lo, eth0"), std::string::npos);
  machine.variables = {{"GLOO_SOCKET_IFNAME", "eth0,nope"}};
  EXPECT_NE(advice_on(machine, "taken by").find("GLOO_SOCKET_IFNAME=eth0,nope"), std::string::npos);
  machine.variables = {{"GLOO_SOCKET_IFNAME", "eth0"}, {"NCCL_SOCKET_IFNAME", "^lo,docker"}};
  EXPECT_EQ(advice_on(machine, "taken by"), "");
  machine.variables = {{"MASTER_ADDR", "nohost.invalid"}};
  machine.master_addresses.emplace();
  EXPECT_NE(advice_on(machine, "master").find("MASTER_ADDR does not resolve"), std::string::npos);
  machine.master_addresses = {"10.0.0.9"};
  EXPECT_EQ(advice_on(machine, "master"), "");
}

TEST(MachineChecks, AdviseOnLimitsThatLargeJobsMeet) {
  Machine machine = cluster_node();
  machine.open_files = 1024;
  machine.locked_bytes = 8 << 20;
  machine.shared_free = machine.shared_bytes = 64 << 20;
  machine.clock_synchronised = false;
  EXPECT_NE(advice_on(machine, "open files").find("ulimit -n"), std::string::npos);
  EXPECT_NE(advice_on(machine, "locked memory").find("ulimit -l"), std::string::npos);
  EXPECT_NE(advice_on(machine, "shared memory").find("--shm-size"), std::string::npos);
  EXPECT_NE(advice_on(machine, "clock").find("NTP"), std::string::npos);
  machine.shared_bytes = 0;
  EXPECT_NE(advice_on(machine, "shared memory").find("tmpfs"), std::string::npos);
}

TEST(MachineChecks, SayWhichNetworkEachLibraryTakes) {
  Machine machine = cluster_node();
  machine.interfaces.insert(machine.interfaces.begin() + 1, {"docker0", {"172.17.0.1"}, true, false});
  machine.interfaces.push_back({"eth1", {"10.1.0.1"}, true, false});
  machine.interfaces.push_back({"eth2", {"10.2.0.1"}, false, false});
  EXPECT_EQ(interface_of_nccl(machine), "eth0") << "not docker's";
  EXPECT_EQ(interface_of_gloo(machine), "eth0") << "that of the host's name";
  EXPECT_EQ(interfaces_of_openmpi(machine), "docker0,eth0,eth1") << "all that are up but loopback";
  EXPECT_NE(advice_on(machine, "network"), "");
  machine.interfaces.push_back({"ib0", {"10.3.0.1"}, true, false});
  EXPECT_EQ(interface_of_nccl(machine), "ib0") << "InfiniBand first";
  machine.variables = {{"GLOO_SOCKET_IFNAME", "eth1"}, {"NCCL_SOCKET_IFNAME", "eth1"}};
  EXPECT_EQ(interface_of_nccl(machine), "eth1");
  EXPECT_EQ(interface_of_gloo(machine), "eth1");
  machine.host_addresses = {"127.0.1.1"};
  machine.variables = {};
  EXPECT_EQ(interface_of_gloo(machine), "lo");
}

TEST(ThisMachine, HasANameLimitsAndLoopback) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.kernel.empty());
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.open_files, 0U);
  EXPECT_GT(machine.memory_bytes, 1U << 20);
  const auto is_loopback = [](const NetworkInterface& interface) { return interface.loopback; };
  EXPECT_TRUE(std::any_of(machine.interfaces.begin(), machine.interfaces.end(), is_loopback));
}

}  // namespace
}  // namespace pdsim
