#include "backends/net/machine_checks.h"

#include "backends/net/interfaces.h"
#include "core/base/printable.h"
#include "core/base/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

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

// What is wrong with the interface that a variable names; empty where the machine has it.
std::string interface_advice(const Machine& machine) {
  std::vector<std::string> here;
  for (const NetworkInterface& interface : machine.interfaces) here.push_back(interface.name);
  const auto is_here = [&](const std::string& name) { return std::find(here.begin(), here.end(), name) != here.end(); };
  const auto missing = [&](std::string_view name, const std::string& value) {
    return fmt::format("{}={} names no interface of this machine, which has {}: select one of these, or unset it", name, printable(value), fmt::join(here, ", "));
  };
  if (const std::string list = variable(machine, "NCCL_SOCKET_IFNAME");
      !list.empty() && std::none_of(here.begin(), here.end(), [&](const std::string& name) { return nccl_takes_interface(list, name); }))
    return missing("NCCL_SOCKET_IFNAME", list);
  const std::string list = variable(machine, "GLOO_SOCKET_IFNAME");
  const std::vector<std::string> names = names_in(list);
  if (!std::all_of(names.begin(), names.end(), is_here)) return missing("GLOO_SOCKET_IFNAME", list);
  return {};
}

MachineCheck chosen_check(const Machine& machine) {
  return {"taken by", fmt::format("NCCL {}; Gloo {}; Open MPI {}", interface_of_nccl(machine), interface_of_gloo(machine),
                                  interfaces_of_openmpi(machine)),
          interface_advice(machine)};
}

// Only where the variable is set: a launcher sets it for its ranks.
std::optional<MachineCheck> master_check(const Machine& machine) {
  const std::string master = variable(machine, "MASTER_ADDR");
  if (master.empty() || !machine.master_addresses) return std::nullopt;
  const auto& addresses = *machine.master_addresses;
  return MachineCheck{"master", fmt::format("{} is {}", printable(master), addresses.empty() ? "unknown" : addresses.front()),
                      addresses.empty() ? "MASTER_ADDR does not resolve here, so that ranks of this machine cannot find rank 0: correct it, or add the name to /etc/hosts"
                                        : ""};
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
  std::vector<MachineCheck> checks{name_check(machine),   interfaces_check(machine), chosen_check(machine), files_check(machine),
                                   locked_check(machine), shared_check(machine),     clock_check(machine),  size_check(machine),
                                   {"kernel", machine.kernel, ""}, variables_check(machine)};
  if (std::optional<MachineCheck> master = master_check(machine)) checks.insert(checks.begin() + 1, std::move(*master));
  return checks;
}

}  // namespace pdsim
