// What NCCL_SOCKET_IFNAME means, by NCCL's user guide.

#include "backends/net/interfaces.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

TEST(Interfaces, OfThisMachineHaveTheLoopbackOnce) {
  const std::vector<std::string> names = network_interfaces();
  EXPECT_EQ(std::count(names.begin(), names.end(), "lo"), 1);
}

TEST(Interfaces, OfNcclAreTakenByPrefixByNameOrByAllButThose) {
  struct Case {
    const char* list;
    const char* name;
    bool taken;
  };
  constexpr Case cases[] = {
      {"eth", "eth0", true},           {"eth", "lo", false},
      {"eth,lo", "lo", true},          {"=eth", "eth0", false},
      {"=eth0,lo", "eth0", true},      {"^docker,lo", "eth0", true},
      {"^docker", "docker0", false},   {"^=docker", "docker0", true},
      {"^=docker0", "docker0", false}, {"", "lo", true},
  };
  for (const Case& c : cases) EXPECT_EQ(nccl_takes_interface(c.list, c.name), c.taken) << c.list << " " << c.name;
}

TEST(Interfaces, OneThatIsMissingIsToldWithThoseThatAreThere) {
  const Error error = no_such_interface("NCCL_SOCKET_IFNAME", "=ib9");
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_EQ(error.message.find(
                "this machine has no network interface `=ib9`, which NCCL_SOCKET_IFNAME names; its interfaces with an "
                "address are "),
            0U);
  EXPECT_NE(error.message.find("lo"), std::string::npos);
}

}  // namespace
}  // namespace pdsim
