#include "backends/os/machine.h"

#include <algorithm>
#include <array>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char** environ;

namespace pdsim {
namespace {

// Empty for what is not an internet address, and for a link-local one.
std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address == nullptr) return "";
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size()) == nullptr ? "" : text.data();
  }
  if (address->sa_family != AF_INET6) return "";
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) return "";
  return inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size()) == nullptr ? "" : text.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::vector<std::string> addresses_of(const std::string& host) {
  std::vector<std::string> addresses;
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return addresses;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next)
    if (std::string text = text_of(entry->ai_addr); !text.empty()) addresses.push_back(std::move(text));
  return addresses;
}

std::vector<NetworkInterface> network_interfaces() {
  std::vector<NetworkInterface> interfaces;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return interfaces;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    auto known = std::find_if(interfaces.begin(), interfaces.end(),
                              [&](const NetworkInterface& i) { return i.name == entry->ifa_name; });
    if (known == interfaces.end()) {
      interfaces.push_back({entry->ifa_name, {}, (entry->ifa_flags & IFF_UP) != 0, (entry->ifa_flags & IFF_LOOPBACK) != 0});
      known = interfaces.end() - 1;
    }
    if (std::string text = text_of(entry->ifa_addr); !text.empty()) known->addresses.push_back(std::move(text));
  }
  return interfaces;
}

std::uint64_t soft_limit(decltype(RLIMIT_NOFILE) kind) {
  rlimit limit{};
  if (getrlimit(kind, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::uint64_t>::max() : limit.rlim_cur;
}

std::optional<bool> clock_is_synchronised() {
  timex clock{};
  const int state = adjtimex(&clock);
  if (state < 0) return std::nullopt;
  return state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
}

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

// Returns the environment variables of PyTorch and its launchers, NCCL, Gloo, Open MPI and CUDA.
std::vector<std::pair<std::string, std::string>> library_variables() {
  constexpr std::array<std::string_view, 7> beginnings{"NCCL_", "GLOO_", "TORCH_", "TORCHELASTIC_", "OMPI_MCA_", "CUDA_", "UCX_"};
  constexpr std::array<std::string_view, 6> names{"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMP_NUM_THREADS"};
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_one = std::find(names.begin(), names.end(), name) != names.end() ||
                        std::any_of(beginnings.begin(), beginnings.end(),
                                    [&](std::string_view beginning) { return name.starts_with(beginning); });
    if (is_one && name.size() < text.size()) variables.emplace_back(name, text.substr(name.size() + 1));
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.host = host_name();
  machine.host_addresses = addresses_of(machine.host);
  machine.interfaces = network_interfaces();
  machine.open_files = soft_limit(RLIMIT_NOFILE);
  machine.locked_bytes = soft_limit(RLIMIT_MEMLOCK);
  machine.processes = soft_limit(RLIMIT_NPROC);
  struct statvfs shared {};
  if (statvfs("/dev/shm", &shared) == 0) {
    machine.shared_bytes = static_cast<std::uint64_t>(shared.f_blocks) * shared.f_frsize;
    machine.shared_free = static_cast<std::uint64_t>(shared.f_bavail) * shared.f_frsize;
  }
  machine.clock_synchronised = clock_is_synchronised();
  machine.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  machine.cores = usable_cores();
  utsname system{};
  if (uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
  machine.variables = library_variables();
  for (const auto& [name, value] : machine.variables)
    if (name == "MASTER_ADDR") machine.master_addresses = addresses_of(value);
  return machine;
}

}  // namespace pdsim
