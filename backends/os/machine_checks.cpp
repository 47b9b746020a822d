#include "backends/os/machine_checks.h"

#include "core/base/printable.h"
#include "core/base/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace pdsim {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t enough_files = 4096;  // a socket to each of a thousand ranks, and what Python opens
constexpr std::uint64_t enough_shared = 1ULL << 30;

std::string variable(const Machine& machine, std::string_view name) {
  for (const auto& [key, value] : machine.variables)
    if (key == name) return value;
  return "";
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

bool is_usable(const NetworkInterface& interface) {
  return interface.up && !interface.loopback && !interface.addresses.empty();
}

std::string count_text(std::uint64_t limit) { return limit == unlimited ? "unlimited" : std::to_string(limit); }
std::string bytes_text(std::uint64_t bytes) {
  return bytes == unlimited ? "unlimited" : to_string(Bytes{static_cast<std::int64_t>(bytes)});
}

MachineCheck name_check(const Machine& machine) {
  const auto& addresses = machine.host_addresses;
  MachineCheck check{"name", fmt::format("{} is {}", machine.host, addresses.empty() ? "unknown" : addresses.front()), ""};
  if (addresses.empty())
    check.advice = "the host's name does not resolve: add it to /etc/hosts, or Gloo and torchrun fall back to loopback";
  else if (is_loopback(addresses.front()) && variable(machine, "GLOO_SOCKET_IFNAME").empty())
    check.advice = "fit for one machine; with several, Gloo would announce an address that the others cannot reach: set "
                   "GLOO_SOCKET_IFNAME";
  return check;
}

MachineCheck interfaces_check(const Machine& machine) {
  std::vector<std::string> usable;
  for (const NetworkInterface& interface : machine.interfaces)
    if (is_usable(interface)) usable.push_back(fmt::format("{} {}", interface.name, interface.addresses.front()));
  MachineCheck check{"network", usable.empty() ? "loopback alone" : fmt::format("{}", fmt::join(usable, ", ")), ""};
  if (usable.size() > 1 && variable(machine, "NCCL_SOCKET_IFNAME").empty())
    check.advice = "several networks: libraries may choose different ones; select one with NCCL_SOCKET_IFNAME and "
                   "GLOO_SOCKET_IFNAME";
  return check;
}

MachineCheck chosen_check(const Machine& machine) {
  return {"taken by", fmt::format("NCCL {}; Gloo {}; Open MPI {}", interface_of_nccl(machine), interface_of_gloo(machine),
                                  interfaces_of_openmpi(machine)), ""};
}

MachineCheck files_check(const Machine& machine) {
  return {"open files", count_text(machine.open_files),
          machine.open_files < enough_files ? fmt::format("few for large jobs: ulimit -n {}", enough_files) : ""};
}

MachineCheck locked_check(const Machine& machine) {
  return {"locked memory", bytes_text(machine.locked_bytes),
          machine.locked_bytes == unlimited ? "" : "InfiniBand registers memory: with it, ulimit -l unlimited"};
}

MachineCheck shared_check(const Machine& machine) {
  if (machine.shared_bytes == 0) return {"shared memory", "no /dev/shm", "NCCL and DataLoader workers need it: mount a tmpfs there"};
  return {"shared memory", fmt::format("{} of {} free", bytes_text(machine.shared_free), bytes_text(machine.shared_bytes)),
          machine.shared_free < enough_shared ? "little for NCCL and DataLoader workers: docker run --shm-size=8g, or --ipc=host" : ""};
}

MachineCheck clock_check(const Machine& machine) {
  if (!machine.clock_synchronised) return {"clock", "the kernel does not report whether it is synchronised", ""};
  return {"clock", *machine.clock_synchronised ? "synchronised" : "not synchronised",
          *machine.clock_synchronised ? "" : "times in logs and dumps of several machines will not match: start NTP"};
}

MachineCheck size_check(const Machine& machine) {
  return {"size", fmt::format("{} core{}, {}", machine.cores, machine.cores == 1 ? "" : "s", bytes_text(machine.memory_bytes)), ""};
}

MachineCheck variables_check(const Machine& machine) {
  std::vector<std::string> set;
  for (const auto& [name, value] : machine.variables) set.push_back(printable(name + "=" + value));
  MachineCheck check{"variables", set.empty() ? "none set that libraries read" : fmt::format("{}", fmt::join(set, " ")), ""};
  if (variable(machine, "CUDA_LAUNCH_BLOCKING") == "1") check.advice = "CUDA_LAUNCH_BLOCKING=1 makes every kernel wait";
  return check;
}

}  // namespace

std::string interface_of_nccl(const Machine& machine) {
  if (const std::string named = variable(machine, "NCCL_SOCKET_IFNAME"); !named.empty()) return named;
  for (const NetworkInterface& interface : machine.interfaces)
    if (is_usable(interface) && interface.name.starts_with("ib")) return interface.name;
  for (const NetworkInterface& interface : machine.interfaces)
    if (is_usable(interface) && !interface.name.starts_with("docker")) return interface.name;
  for (const NetworkInterface& interface : machine.interfaces)
    if (is_usable(interface)) return interface.name;
  return "lo";
}

std::string interface_of_gloo(const Machine& machine) {
  if (const std::string named = variable(machine, "GLOO_SOCKET_IFNAME"); !named.empty()) return named;
  for (const std::string& address : machine.host_addresses)
    for (const NetworkInterface& interface : machine.interfaces)
      if (std::find(interface.addresses.begin(), interface.addresses.end(), address) != interface.addresses.end())
        return interface.name;
  return "lo";
}

std::string interfaces_of_openmpi(const Machine& machine) {
  if (const std::string named = variable(machine, "OMPI_MCA_btl_tcp_if_include"); !named.empty()) return named;
  std::vector<std::string> all;
  for (const NetworkInterface& interface : machine.interfaces)
    if (is_usable(interface)) all.push_back(interface.name);
  return all.empty() ? "lo" : fmt::format("{}", fmt::join(all, ","));
}

std::vector<MachineCheck> machine_checks(const Machine& machine) {
  return {name_check(machine),   interfaces_check(machine), chosen_check(machine), files_check(machine),
          locked_check(machine), shared_check(machine),     clock_check(machine),  size_check(machine),
          {"kernel", machine.kernel, ""}, variables_check(machine)};
}

}  // namespace pdsim
